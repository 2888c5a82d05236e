/**
 * Claim: a worker takes runs of its queues and models, by priority and then in order of availability.
 *
 * First every lane the worker may serve is peeked at without locks, to share the free slots out by priority and age; then that many
 * runs of each lane are locked with SKIP LOCKED and become RUNNING under a new epoch, with their attempt and event rows. Two
 * workers at once skip each other's rows and take the next ones.
 *
 * While some transaction elsewhere keeps old row versions alive, the dead entries of finished runs stay at the head of each lane. The
 * cursor therefore lets a claim start where the last one ended. Runs can appear behind it (a slow commit, a release), so
 * every `lookBackMs` a claim starts at the beginning; when that turns out slow it is done less often, so that it never
 * takes more than a twentieth of the time.
 *
 * A run whose rows are damaged makes the whole statement fail. Then the runs are claimed one by one and the cursor passes by the
 * damaged one, so that it holds up nobody else.
 */

import type pg from 'pg'
import { isBadRow } from './pg-errors.ts'
import type { ClaimRequest, Lease } from './store.ts'

const PICK = `
WITH line AS MATERIALIZED (
  SELECT l.lane, l.queue, l.model, l.model_version, l.priority, q.room AS queue_room, m.room AS model_room,
    COALESCE(timestamptz 'epoch' + c.at_us * interval '1 microsecond', '-infinity') AS after_at, COALESCE(c.id, '00000000-0000-0000-0000-000000000000') AS after_id
  FROM unnest($2::text[], $3::int[]) AS q(queue, room)
  JOIN lanes l ON l.queue = q.queue
  JOIN unnest($4::text[], $5::text[], $6::int[]) AS m(model, version, room)
    ON m.model = l.model AND m.version = l.model_version
  LEFT JOIN unnest($7::int[], $8::bigint[], $9::uuid[]) AS c(lane, at_us, id) ON c.lane = l.lane
  WHERE NOT EXISTS (SELECT FROM queues p WHERE p.queue = l.queue AND p.paused)
), peek AS (
  SELECT line.*, r.id, r.available_at,
    row_number() OVER (PARTITION BY line.model, line.model_version ORDER BY line.priority DESC, r.available_at, r.id) AS model_place
  FROM line CROSS JOIN LATERAL (
    SELECT id, available_at FROM model_runs
    WHERE lane = line.lane AND status = 'PENDING' AND available_at <= clock()
      AND (available_at, id) > (line.after_at, line.after_id)
    ORDER BY available_at, id LIMIT LEAST($1, line.queue_room, line.model_room)
  ) r
  WHERE (SELECT count(*) FROM line) > 1
), fits AS (
  SELECT *, row_number() OVER (PARTITION BY queue ORDER BY priority DESC, available_at, id) AS queue_place
  FROM peek WHERE model_room IS NULL OR model_place <= model_room
), share AS MATERIALIZED (
  SELECT lane, after_at, after_id, count(*) AS runs FROM (
    SELECT * FROM fits WHERE queue_room IS NULL OR queue_place <= queue_room ORDER BY priority DESC, available_at, id LIMIT $1
  ) best GROUP BY lane, after_at, after_id
  -- With one lane there is nothing to share out.
  UNION ALL
  SELECT lane, after_at, after_id, LEAST($1, queue_room, model_room) FROM line WHERE (SELECT count(*) FROM line) = 1
), picked AS MATERIALIZED (
  SELECT r.id, r.row FROM share CROSS JOIN LATERAL (
    SELECT id, ctid AS row FROM model_runs
    WHERE lane = share.lane AND status = 'PENDING' AND available_at <= clock()
      AND (available_at, id) > (share.after_at, share.after_id)
    ORDER BY available_at, id LIMIT share.runs FOR UPDATE SKIP LOCKED
  ) r
)`

const take = (workerId: string, leaseMs: string) => `
claimed AS (
  UPDATE model_runs r SET status = 'RUNNING', lease_owner = ${workerId}, lease_epoch = r.lease_epoch + 1,
    lease_expires_at = clock() + ${leaseMs} * interval '1 millisecond', heartbeat_at = clock(),
    deadline_at = clock() + r.timeout_seconds * interval '1 second',
    attempt_count = r.attempt_count + 1, started_at = COALESCE(r.started_at, clock()), event_seq = r.event_seq + 1,
    -- A run that took its worker down once goes on alone, in a child process, so that it can only kill itself.
    executor = CASE WHEN r.reclaim_count > 0 AND r.executor = 'inline' THEN 'process' ELSE r.executor END
  WHERE r.ctid = ANY (ARRAY(SELECT row FROM picked))
  RETURNING r.id, r.status, r.lane, r.available_at, r.lease_epoch, r.attempt_count, r.event_seq, r.owner, r.model, r.model_version,
    r.queue, r.executor, r.parameters, r.payload_hash, r.seed, r.timeout_seconds, r.max_attempts, r.release_count, r.reclaim_count,
    r.created_at, r.started_at
), attempted AS (
  INSERT INTO run_attempts (run_id, attempt, state, executor, worker_id, lease_epoch, submitted_at, started_at)
  SELECT id, attempt_count, 'RUNNING', executor, ${workerId}, lease_epoch, clock(), clock() FROM claimed
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id)
  SELECT id, event_seq, 'started', clock(), status, attempt_count, ${workerId} FROM claimed
)
SELECT id, lane, round(date_part('epoch', available_at) * 1000000)::bigint AS available_at_us, lease_epoch, attempt_count, owner, model, model_version, queue, executor, parameters,
  payload_hash, seed, timeout_seconds, max_attempts, release_count, reclaim_count,
  date_part('epoch', started_at - created_at) AS queued_seconds, date_part('epoch', clock() - started_at) AS started_seconds
FROM claimed`

export const CLAIM = `${PICK}, ${take('$10', '$11')}`

/** The same runs in the same order, only named, with their places. */
const NAME_PICKED = `${PICK}
SELECT id, r.lane, round(date_part('epoch', r.available_at) * 1000000)::bigint AS available_at_us
FROM picked JOIN model_runs r USING (id)`

const CLAIM_ONE = `
WITH picked AS MATERIALIZED (
  SELECT id, ctid AS row FROM model_runs WHERE id = $1 AND status = 'PENDING' AND available_at <= clock() FOR UPDATE SKIP LOCKED
), ${take('$2', '$3')}`

type Place = { id: string; lane: number; available_at_us: number }

type ClaimedRow = Place & {
  lease_epoch: number
  attempt_count: number
  owner: string
  model: string
  model_version: string
  queue: string
  executor: string
  parameters: unknown
  payload_hash: string
  seed: number
  timeout_seconds: number
  max_attempts: number
  release_count: number
  reclaim_count: number
  queued_seconds: number
  started_seconds: number
}

/** The place in each lane up to which this worker has claimed, in microseconds: a Date would round it. */
type Cursor = Map<number, { atUs: number; id: string }>

export type ClaimOptions = { pool: pg.Pool; lookBackMs?: number }

export function createClaim({ pool, lookBackMs = 1_000 }: ClaimOptions): (request: ClaimRequest) => Promise<Lease[]> {
  const cursor: Cursor = new Map()
  let lookBackAt = 0

  return async function claim(request: ClaimRequest): Promise<Lease[]> {
    if (request.slots <= 0 || request.queues.length === 0 || request.models.length === 0) return []
    const startedAt = performance.now()
    const lookBack = startedAt >= lookBackAt
    if (lookBack) cursor.clear()
    const picking = pickValues(request, cursor)
    let rows: ClaimedRow[]
    try {
      const values = [...picking, request.workerId, request.leaseMs]
      rows = (await pool.query<ClaimedRow>({ name: 'claim', text: CLAIM, values })).rows
      if (lookBack) lookBackAt = nextLookBack(startedAt)
    } catch (error) {
      if (!isBadRow(error)) throw error
      if (lookBack) lookBackAt = nextLookBack(startedAt)
      rows = await claimOneByOne(request, picking)
    }
    for (const row of rows) advance(cursor, row)
    return rows.map(leaseOfRow)
  }

  function nextLookBack(startedAt: number): number {
    const nowMs = performance.now()
    return nowMs + Math.max(lookBackMs, 20 * (nowMs - startedAt))
  }

  async function claimOneByOne(request: ClaimRequest, picking: unknown[]): Promise<ClaimedRow[]> {
    const picked = await pool.query<Place>(NAME_PICKED, picking)
    const claimed: ClaimedRow[] = []
    let damage: unknown
    for (const place of picked.rows) {
      try {
        const { rows } = await pool.query<ClaimedRow>(CLAIM_ONE, [place.id, request.workerId, request.leaseMs])
        claimed.push(...rows)
      } catch (error) {
        if (!isBadRow(error)) throw error
        damage = error
        advance(cursor, place)
      }
    }
    // Nobody looks at runs that are never claimed, so the damage is told when nothing else is.
    if (claimed.length === 0 && damage) throw damage
    return claimed
  }
}

function pickValues(request: ClaimRequest, cursor: Cursor): unknown[] {
  const lanes = [...cursor.entries()]
  return [
    request.slots,
    request.queues.map((q) => q.queue),
    request.queues.map((q) => q.room),
    request.models.map((m) => m.model),
    request.models.map((m) => m.version),
    request.models.map((m) => m.room),
    lanes.map(([lane]) => lane),
    lanes.map(([, place]) => place.atUs),
    lanes.map(([, place]) => place.id),
  ]
}

function advance(cursor: Cursor, row: Place): void {
  const place = cursor.get(row.lane)
  const further =
    !place || row.available_at_us > place.atUs || (row.available_at_us === place.atUs && row.id > place.id)
  if (further) cursor.set(row.lane, { atUs: row.available_at_us, id: row.id })
}

function leaseOfRow(row: ClaimedRow): Lease {
  return {
    runId: row.id,
    epoch: row.lease_epoch,
    attempt: row.attempt_count,
    owner: row.owner,
    model: row.model,
    modelVersion: row.model_version,
    queue: row.queue,
    executor: row.executor,
    parameters: row.parameters,
    payloadHash: row.payload_hash,
    seed: row.seed,
    timeoutSeconds: row.timeout_seconds,
    maxAttempts: row.max_attempts,
    releaseCount: row.release_count,
    reclaimCount: row.reclaim_count,
    queuedSeconds: row.queued_seconds,
    startedSeconds: row.started_seconds,
  }
}
