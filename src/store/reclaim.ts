/**
 * Reclaim: take back RUNNING runs whose lease has expired, and end cancelled runs whose holder never confirmed.
 *
 * Guard and change are one statement; rows that someone else is changing are skipped and looked at again in the next round, so
 * any number of janitors may run at once. A reclaimed run goes to the back of its queue, to FAILED when its attempts are
 * used up, or to CANCELLED when that was asked for.
 */

import type pg from 'pg'
import type { RunStatus } from '../run/status.ts'
import type { Reclaimed } from './store.ts'

const take = (which: string, state: string, errorClass: string, message: string) => `
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
  FROM expired WHERE r.id = expired.id AND r.lease_owner IS NOT NULL
  RETURNING r.id, r.status, r.attempt_count, r.event_seq, r.model, r.queue, r.executor, r.payload_hash,
    expired.lease_owner AS holder, expired.overdue_ms
), ended AS (
  UPDATE run_attempts a SET state = '${state}', finished_at = clock(), error_class = '${errorClass}', error_message = '${message}'
  FROM taken t WHERE a.run_id = t.id AND a.attempt = t.attempt_count AND a.finished_at IS NULL
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id, message)
  SELECT id, event_seq, CASE status WHEN 'CANCELLED' THEN 'cancelled' WHEN 'FAILED' THEN 'failed' ELSE 'reclaimed' END,
    clock(), status, attempt_count, holder, '${message}'
  FROM taken
)
SELECT id, status, attempt_count, model, queue, executor, payload_hash, holder, overdue_ms FROM taken`

const RECLAIM = take(
  `SELECT id, lease_owner, extract(epoch FROM clock() - lease_expires_at)::float8 * 1000 AS overdue_ms FROM model_runs
  WHERE status = 'RUNNING' AND lease_expires_at < clock() AND lease_expires_at > $2::timestamptz
  ORDER BY lease_expires_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
  'LOST',
  'WorkerLost',
  'the lease expired: the worker died, froze or lost its connection',
)

const CONFIRM_CANCELS = take(
  `SELECT id, lease_owner, extract(epoch FROM clock() - cancel_requested_at)::float8 * 1000 AS overdue_ms FROM model_runs
  WHERE status = 'RUNNING' AND cancel_requested_at < clock() - $2 * interval '1 millisecond'
  ORDER BY cancel_requested_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
  'CANCELLED',
  'Cancelled',
  'cancelled without a confirmation from the worker',
)

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

/**
 * Leases are given in the future, so below the moment of the last complete look nothing new appears; starting there keeps a look
 * from walking over the dead entries of finished runs. Every `lookBackMs` it starts at the beginning, or less often
 * when that is slow.
 */
export function createReclaim(pool: pg.Pool, lookBackMs = 5_000) {
  let after = '-infinity'
  let lookBackAt = 0
  return async function reclaimExpired({ limit }: { limit: number }): Promise<Reclaimed[]> {
    const startedAt = performance.now()
    const lookBack = startedAt >= lookBackAt
    const { rows: clock } = await pool.query<{ now: string }>(`SELECT (clock() - interval '10 seconds')::text AS now`)
    const { rows } = await pool.query<TakenRow>({
      name: 'reclaim',
      text: RECLAIM,
      values: [limit, lookBack ? '-infinity' : after],
    })
    if (lookBack) lookBackAt = performance.now() + Math.max(lookBackMs, 20 * (performance.now() - startedAt))
    if (rows.length < limit) after = clock[0]!.now
    return rows.map(reclaimedOfRow)
  }
}

export async function confirmOverdueCancels(
  pool: pg.Pool,
  { afterMs, limit }: { afterMs: number; limit: number },
): Promise<Reclaimed[]> {
  const { rows } = await pool.query<TakenRow>({
    name: 'confirm_cancels',
    text: CONFIRM_CANCELS,
    values: [limit, afterMs],
  })
  return rows.map(reclaimedOfRow)
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
