/**
 * The queues: paused or not, how many runs wait and execute, for how long the oldest has been waiting, and which workers serve them.
 *
 * Waiting runs are counted lane by lane from the ready index and only up to a limit; running ones from the index of leases.
 */

import type pg from 'pg'
import type { RetryPolicyInput } from '../run/retry.ts'
import { nameOfCursor, pageOf } from './name-cursor.ts'
import type { Actor } from './ports/audit.ts'
import type { PageAsked, PageOf, QueueEntry } from './ports/directory.ts'
import { IS_LIVE } from './waiting.ts'

const PENDING_MAX_PER_LANE = 10_000
/** Of a lane of one owner: there can be thousands in a queue. */
const PENDING_MAX_PER_OWNER = 1_000
const LANE_MAX = `CASE WHEN l.lane < 0 THEN ${PENDING_MAX_PER_OWNER} ELSE ${PENDING_MAX_PER_LANE} END`
export const RUNNING_MAX = 10_000

/** Of one lane `l`: how many wait, and since when the first of those that could start. */
export const LANE_DEPTH = `
CROSS JOIN LATERAL (
  SELECT count(*) AS runs FROM (
    SELECT FROM model_runs r WHERE r.lane = l.lane AND r.status = 'PENDING' ORDER BY r.available_at, r.id LIMIT ${LANE_MAX}
  ) counted
) depth
LEFT JOIN LATERAL (
  SELECT r.id, r.available_at FROM model_runs r
  WHERE r.lane = l.lane AND r.status = 'PENDING' AND r.available_at <= clock() ORDER BY r.available_at, r.id LIMIT 1
) first ON depth.runs > 0`

export const LANE_IS_CAPPED = `depth.runs >= ${LANE_MAX}`

/** One row more than the limit shows that there are more. */
export const RUNNING = `
SELECT queue, model, lease_owner FROM model_runs WHERE status = 'RUNNING' ORDER BY status, lease_expires_at LIMIT ${RUNNING_MAX + 1}`

const QUEUES = (which: string) => `
WITH page AS MATERIALIZED (
  SELECT queue, paused, retry, fair_share, updated_at FROM queues WHERE ${which}
), waiting AS (
  SELECT l.queue, sum(depth.runs)::int AS pending, bool_or(${LANE_IS_CAPPED}) AS capped, min(first.available_at) AS oldest_at
  FROM page JOIN lanes l USING (queue) ${LANE_DEPTH} GROUP BY l.queue
), running AS MATERIALIZED (${RUNNING}), held AS (
  SELECT queue, count(*)::int AS runs FROM running GROUP BY queue
), serving AS (
  SELECT page.queue, count(*)::int AS workers,
    sum(LEAST(w.concurrency, (w.queue_limits->>page.queue)::int))::int AS slots,
    CASE WHEN bool_and(w.queue_limits ? page.queue) THEN sum((w.queue_limits->>page.queue)::int)::int END AS queue_limit
  FROM page JOIN workers w ON page.queue = ANY(w.queues) WHERE ${IS_LIVE} GROUP BY page.queue
)
SELECT page.*, COALESCE(waiting.pending, 0) AS pending, COALESCE(waiting.capped, false) AS pending_capped,
  COALESCE(held.runs, 0) AS running, (SELECT count(*) > ${RUNNING_MAX} FROM running) AS running_capped,
  date_part('epoch', clock() - waiting.oldest_at) AS oldest_waiting_seconds,
  COALESCE(serving.workers, 0) AS live_workers, COALESCE(serving.slots, 0) AS slots, serving.queue_limit,
  (SELECT COALESCE(jsonb_object_agg(w.owner, w.weight), '{}') FROM queue_weights w WHERE w.queue = page.queue) AS weights
FROM page LEFT JOIN waiting USING (queue) LEFT JOIN held USING (queue) LEFT JOIN serving USING (queue)
ORDER BY page.queue`

const PAGE_OF_QUEUES = QUEUES('queue > $1 ORDER BY queue LIMIT $2')
const ONE_QUEUE = QUEUES('queue = $1')

const SET_PAUSED = `
WITH changed AS (
  UPDATE queues SET paused = $2, updated_at = clock() WHERE queue = $1 AND paused <> $2 RETURNING queue
)
INSERT INTO audit_events (actor_token, actor_owner, action, target, request_id)
SELECT $3, $4, CASE WHEN $2 THEN 'queue.pause' ELSE 'queue.resume' END, queue, $5 FROM changed`

type QueueRow = {
  queue: string
  paused: boolean
  retry: RetryPolicyInput
  updated_at: Date
  pending: number
  pending_capped: boolean
  running: number
  running_capped: boolean
  oldest_waiting_seconds: number | null
  live_workers: number
  slots: number
  queue_limit: number | null
  fair_share: boolean
  weights: Record<string, number>
}

export async function listQueues(pool: pg.Pool, { limit, cursor }: PageAsked): Promise<PageOf<QueueEntry>> {
  const { rows } = await pool.query<QueueRow>(PAGE_OF_QUEUES, [nameOfCursor(cursor), limit + 1])
  return pageOf(rows.map(entryOfRow), limit, ({ queue }) => queue)
}

export async function readQueue(pool: pg.Pool, queue: string): Promise<QueueEntry | null> {
  const { rows } = await pool.query<QueueRow>(ONE_QUEUE, [queue])
  return rows[0] ? entryOfRow(rows[0]) : null
}

/** Only a queue that exists, so that a mistyped name is not taken for one. */
export async function setPaused(pool: pg.Pool, queue: string, paused: boolean, actor: Actor): Promise<boolean | null> {
  const { rowCount } = await pool.query(SET_PAUSED, [queue, paused, actor.tokenId, actor.owner, actor.requestId])
  if (rowCount === 1) return true
  const found = await pool.query('SELECT FROM queues WHERE queue = $1', [queue])
  return found.rowCount === 1 ? false : null
}

function entryOfRow(row: QueueRow): QueueEntry {
  return {
    queue: row.queue,
    paused: row.paused,
    retry: row.retry,
    updatedAt: row.updated_at,
    pending: row.pending,
    pendingCapped: row.pending_capped,
    running: row.running,
    runningCapped: row.running_capped,
    oldestWaitingSeconds: row.oldest_waiting_seconds,
    liveWorkers: row.live_workers,
    slots: row.slots,
    limit: row.queue_limit,
    fairShare: row.fair_share,
    weights: row.weights,
  }
}
