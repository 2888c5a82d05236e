/**
 * Cancel: a waiting run ends at once; a running one is asked to stop and its holder confirms.
 *
 * The guards make the race with a finishing worker fair: whichever statement commits first wins, and the answer says which.
 */

import type pg from 'pg'
import { RUN_COLUMNS, type RunRow, runOfRow } from './run-row.ts'
import type { Cancelled } from './store.ts'

const CANCEL = `
WITH target AS MATERIALIZED (
  SELECT id, status, cancel_requested_at FROM model_runs WHERE id = $1 AND ($2::text IS NULL OR owner = $2) FOR UPDATE
), cancelled AS (
  UPDATE model_runs r SET
    status = (CASE r.status WHEN 'PENDING' THEN 'CANCELLED' ELSE r.status::text END)::run_status,
    finished_at = CASE r.status WHEN 'PENDING' THEN clock() END,
    cancel_requested_at = clock(),
    event_seq = r.event_seq + 1
  FROM target t
  WHERE r.id = t.id AND (r.status = 'PENDING' OR (r.status = 'RUNNING' AND r.cancel_requested_at IS NULL))
  RETURNING r.*
), unblocked AS (
  DELETE FROM run_blocks b USING cancelled c WHERE b.run_id = c.id
), left_line AS (
  -- Who waited for a place of its concurrency key is an ended holder now: whoever gives places away next looks who else fits.
  UPDATE concurrency_holds h SET state = 'held' FROM cancelled c WHERE h.run_id = c.id AND c.status = 'CANCELLED' AND h.state <> 'held'
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id)
  SELECT id, event_seq, CASE status WHEN 'CANCELLED' THEN 'cancelled' ELSE 'cancel_requested' END,
    clock(), status, CASE status WHEN 'RUNNING' THEN attempt_count END, lease_owner
  FROM cancelled
)
SELECT ${RUN_COLUMNS} FROM cancelled`

const READ = `SELECT ${RUN_COLUMNS} FROM model_runs WHERE id = $1 AND ($2::text IS NULL OR owner = $2)`

/** Of another owner than `sees` names, a run is not found. */
export async function cancelRun(pool: pg.Pool, runId: string, sees: string | null = null): Promise<Cancelled> {
  for (;;) {
    const changed = await pool.query<RunRow>(CANCEL, [runId, sees])
    // Nothing changed: the run is finished, was asked before or does not exist. A new statement sees which.
    const row = changed.rows[0] ?? (await pool.query<RunRow>(READ, [runId, sees])).rows[0]
    if (!row) return { outcome: 'not-found' }
    const run = runOfRow(row)
    if (run.status === 'CANCELLED') return { outcome: 'cancelled', run }
    if (run.status === 'RUNNING' && run.cancelRequestedAt) return { outcome: 'requested', run, holder: run.leaseOwner! }
    if (run.status === 'SUCCEEDED' || run.status === 'FAILED') return { outcome: 'already-finished', run }
    // The run changed hands between the two statements (say, it went back to PENDING): ask again.
  }
}
