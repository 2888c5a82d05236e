/**
 * How an attempt ended, for a worker that did not hear the answer. The event of the end holds what became of the run
 * then; what became of it since is another attempt's story.
 */

import type pg from 'pg'
import type { AttemptState, RunStatus } from '../run/status.ts'
import type { EndedAttempt } from './ports/remote.ts'

const ENDED = `
SELECT a.attempt, a.lease_epoch, a.worker_id, a.state, a.error_class, COALESCE((
    SELECT e.status FROM run_events e
    WHERE e.run_id = a.run_id AND e.attempt = a.attempt
      AND e.type IN ('succeeded', 'failed', 'cancelled', 'released', 'retry_scheduled')
    ORDER BY e.seq LIMIT 1
  ), r.status) AS run_status
FROM run_attempts a JOIN model_runs r ON r.id = a.run_id
WHERE a.run_id = $1 AND a.token_hash = $2 AND a.finished_at IS NOT NULL`

type EndedRow = {
  attempt: number
  lease_epoch: number
  worker_id: string
  state: AttemptState
  error_class: string | null
  run_status: RunStatus
}

export async function endedAttempt(pool: pg.Pool, runId: string, tokenHash: Buffer): Promise<EndedAttempt | null> {
  const { rows } = await pool.query<EndedRow>({ name: 'ended_attempt', text: ENDED, values: [runId, tokenHash] })
  const [row] = rows
  if (!row) return null
  return {
    attempt: row.attempt,
    epoch: row.lease_epoch,
    holder: row.worker_id,
    state: row.state,
    errorClass: row.error_class,
    runStatus: row.run_status,
  }
}
