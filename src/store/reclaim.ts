/**
 * Reclaim: take back RUNNING runs whose lease has expired, and end cancelled runs whose holder never confirmed.
 *
 * Guard and change are one statement; rows that someone else is changing are skipped and looked at again in the next round, so
 * any number of janitors may run at once. A reclaimed run goes to the back of its queue, to FAILED when its attempts are
 * used up, or to CANCELLED when that was asked for. A run whose rows are damaged fails the statement; then each run is taken
 * alone, so that it holds up nobody else. Attempts that an engine has are left to be adopted for a while, and to be stopped by who
 * adopts them.
 */

import type pg from 'pg'
import type { RunStatus } from '../run/status.ts'
import { isBadRow } from './pg-errors.ts'
import type { Reclaimed } from './store.ts'

type End = readonly [state: string, errorClass: string, message: string]

const take = (which: string, [state, errorClass, message]: End) => `
WITH expired AS MATERIALIZED (${which}),
taken AS (
  UPDATE model_runs r SET
    status = (CASE WHEN r.cancel_requested_at IS NOT NULL THEN 'CANCELLED'
      WHEN r.attempt_count - r.release_count < r.max_attempts THEN 'PENDING' ELSE 'FAILED' END)::run_status,
    finished_at = CASE WHEN r.cancel_requested_at IS NOT NULL OR r.attempt_count - r.release_count >= r.max_attempts THEN clock() END,
    available_at = CASE WHEN r.cancel_requested_at IS NULL AND r.attempt_count - r.release_count < r.max_attempts
      THEN clock() ELSE r.available_at END,
    reclaim_count = r.reclaim_count + ${state === 'LOST' ? 1 : 0},
    lease_owner = NULL, lease_expires_at = NULL, deadline_at = NULL,
    last_error = '${message}', last_error_class = '${errorClass}', last_error_attempt = r.attempt_count,
    event_seq = r.event_seq + 1
  FROM expired WHERE r.id = ANY (ARRAY[expired.id]) AND r.lease_owner IS NOT NULL
  RETURNING r.id, r.status, r.attempt_count, r.event_seq, r.model, r.queue, r.executor, r.payload_hash,
    expired.lease_owner AS holder, expired.overdue_ms
), ended AS (
  UPDATE run_attempts a SET state = '${state}', finished_at = clock(), error_class = '${errorClass}', error_message = '${message}'
  FROM taken t WHERE a.run_id = ANY (ARRAY[t.id]) AND a.attempt = t.attempt_count AND a.finished_at IS NULL
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id, message)
  SELECT id, event_seq, CASE status WHEN 'CANCELLED' THEN 'cancelled' WHEN 'FAILED' THEN 'failed' ELSE 'reclaimed' END,
    clock(), status, attempt_count, holder, '${message}'
  FROM taken
)
SELECT id, status, attempt_count, model, queue, executor, payload_hash, holder, overdue_ms FROM taken`

const LOST: End = ['LOST', 'WorkerLost', 'the lease expired: the worker died, froze or lost its connection']
const UNCONFIRMED: End = ['CANCELLED', 'Cancelled', 'cancelled without a confirmation from the worker']

// Of attempts that an engine has, those for which `since` is not yet so long ago are kept.
const notToAdopt = (since: string) => `
  AND (${since} < clock() - $3 * interval '1 millisecond' OR NOT EXISTS (
    SELECT FROM run_attempts a WHERE a.run_id = ANY (ARRAY[model_runs.id]) AND a.attempt = model_runs.attempt_count
      AND a.external_ref IS NOT NULL))`

const EXPIRED = `
  SELECT id, lease_owner, extract(epoch FROM clock() - lease_expires_at)::float8 * 1000 AS overdue_ms FROM model_runs
  WHERE status = 'RUNNING' AND lease_expires_at < clock() AND lease_expires_at > $2::timestamptz${notToAdopt('lease_expires_at')}`

// A run that is not finished and asked to stop is RUNNING; a waiting one ends at once.
const OVERDUE = `
  SELECT id, lease_owner, extract(epoch FROM clock() - cancel_requested_at)::float8 * 1000 AS overdue_ms FROM model_runs
  WHERE finished_at IS NULL AND cancel_requested_at < clock() - $2 * interval '1 millisecond'
  ${notToAdopt("cancel_requested_at + $2 * interval '1 millisecond'")}`

type Taking = { name: string; batch: string; one: string; candidates: string }

const taking = (name: string, which: string, order: string, end: End): Taking => ({
  name,
  batch: take(`${which} ORDER BY ${order} LIMIT $1 FOR UPDATE SKIP LOCKED`, end),
  one: take(`${which} AND id = $1 FOR UPDATE SKIP LOCKED`, end),
  candidates: `${which} LIMIT $1`,
})

export const RECLAIM = taking('reclaim', EXPIRED, 'lease_expires_at', LOST)
export const CONFIRM_CANCELS = taking('confirm_cancels', OVERDUE, 'cancel_requested_at', UNCONFIRMED)

const CANDIDATES_MAX = 10_000
const ADOPT_MS = 60_000

type TakenRow = {
  id: string
  status: RunStatus
  attempt_count: number
  model: string
  queue: string
  executor: string
  payload_hash: string
  holder: string
  overdue_ms: number
}

type ReclaimOptions = { limit: number; adoptMs?: number }

/**
 * Leases are given in the future, so below the moment of the last complete look nothing new appears; starting there keeps a look
 * from walking over the dead entries of finished runs. Every `lookBackMs` it starts at the beginning, or less often
 * when that is slow.
 */
export function createReclaim(pool: pg.Pool, lookBackMs = 5_000) {
  let after = '-infinity'
  let lookBackAt = 0
  return async function reclaimExpired({ limit, adoptMs = ADOPT_MS }: ReclaimOptions): Promise<Reclaimed[]> {
    const startedAt = performance.now()
    const lookBack = startedAt >= lookBackAt
    const { rows: clock } = await pool.query<{ now: string }>(`SELECT (clock() - interval '10 seconds')::text AS now`)
    const rows = await takeSome(pool, RECLAIM, limit, [lookBack ? '-infinity' : after, adoptMs])
    if (lookBack) lookBackAt = performance.now() + Math.max(lookBackMs, 20 * (performance.now() - startedAt))
    if (rows.length < limit) after = clock[0]!.now
    return rows.map(reclaimedOfRow)
  }
}

export async function confirmOverdueCancels(
  pool: pg.Pool,
  { afterMs, limit, adoptMs = ADOPT_MS }: ReclaimOptions & { afterMs: number },
): Promise<Reclaimed[]> {
  return (await takeSome(pool, CONFIRM_CANCELS, limit, [afterMs, adoptMs])).map(reclaimedOfRow)
}

async function takeSome(
  pool: pg.Pool,
  { name, batch, one, candidates }: Taking,
  limit: number,
  bounds: (string | number)[],
): Promise<TakenRow[]> {
  try {
    return (await pool.query<TakenRow>({ name, text: batch, values: [limit, ...bounds] })).rows
  } catch (error) {
    if (!isBadRow(error)) throw error
  }
  const found = await pool.query<{ id: string }>(candidates, [CANDIDATES_MAX, ...bounds])
  const taken: TakenRow[] = []
  let damage: unknown
  for (const { id } of found.rows) {
    if (taken.length >= limit) break
    try {
      taken.push(...(await pool.query<TakenRow>(one, [id, ...bounds])).rows)
    } catch (error) {
      if (!isBadRow(error)) throw error
      damage = error
    }
  }
  // Nobody looks at runs that stay RUNNING for ever, so the damage is told when nothing else is.
  if (taken.length === 0 && damage) throw damage
  return taken
}

function reclaimedOfRow(row: TakenRow): Reclaimed {
  return {
    runId: row.id,
    attempt: row.attempt_count,
    workerId: row.holder,
    status: row.status,
    model: row.model,
    queue: row.queue,
    executor: row.executor,
    payloadHash: row.payload_hash,
    overdueMs: row.overdue_ms,
  }
}
