/** Reading one run with its attempts and, while it waits, the reason; and its result. */

import type pg from 'pg'
import type { AttemptState } from '../run/status.ts'
import { RUN_COLUMNS, type RunRow, runOfRow } from './run-row.ts'
import type { Attempt, Run, RunDetail, Waiting } from './store.ts'

const READ_RUN = `
SELECT ${RUN_COLUMNS}, available_at > clock() AS later,
  EXISTS (SELECT FROM queues q WHERE q.queue = model_runs.queue AND q.paused) AS paused,
  status = 'PENDING' AND EXISTS (
    SELECT FROM workers w WHERE w.stopped_at IS NULL AND w.last_seen_at > clock() - interval '2 minutes'
      AND model_runs.queue = ANY(w.queues) AND model_runs.model || '@' || model_runs.model_version = ANY(w.models)) AS offered
FROM model_runs WHERE id = $1`

const READ_ATTEMPTS = `
SELECT attempt, state, executor, worker_id, submitted_at, started_at, finished_at, exit_code, error_class, error_message, error_stack,
  external_ref, progress
FROM run_attempts WHERE run_id = $1 ORDER BY attempt`

const READ_RESULT = `
SELECT ${RUN_COLUMNS}, (SELECT result::text FROM run_results s WHERE s.run_id = model_runs.id) AS result_text
FROM model_runs WHERE id = $1`

type AttemptRow = {
  attempt: number
  state: AttemptState
  executor: string
  worker_id: string
  submitted_at: Date
  started_at: Date | null
  finished_at: Date | null
  exit_code: number | null
  error_class: string | null
  error_message: string | null
  error_stack: string | null
  external_ref: unknown
  progress: unknown
}

export async function readRun(pool: pg.Pool, runId: string): Promise<RunDetail | null> {
  const [runs, attempts] = await Promise.all([
    pool.query<RunRow & { later: boolean; paused: boolean; offered: boolean }>({
      name: 'read_run',
      text: READ_RUN,
      values: [runId],
    }),
    pool.query<AttemptRow>({ name: 'read_attempts', text: READ_ATTEMPTS, values: [runId] }),
  ])
  const row = runs.rows[0]
  if (!row) return null
  const run = runOfRow(row)
  // The two reads are separate snapshots: an attempt the run does not count yet is left for the next look.
  const known = attempts.rows.filter((attempt) => attempt.attempt <= run.attemptCount)
  return { run, attempts: known.map(attemptOfRow), waiting: run.status === 'PENDING' ? waitingOf(run, row) : null }
}

function waitingOf(run: Run, facts: { later: boolean; paused: boolean; offered: boolean }): Waiting {
  if (facts.later) {
    const until = run.availableAt
    return run.attemptCount > 0
      ? {
          reason: 'backoff',
          detail: `attempt ${run.attemptCount} failed; the next one starts after ${until.toISOString()}`,
          until,
        }
      : { reason: 'scheduled', detail: `asked to start after ${until.toISOString()}`, until }
  }
  if (facts.paused) return { reason: 'queue-paused', detail: `the queue ${run.queue} is paused`, until: null }
  if (!facts.offered) {
    const detail = `no live worker serves the queue ${run.queue} with the model ${run.model}@${run.modelVersion}`
    return { reason: 'no-worker', detail, until: null }
  }
  return { reason: 'queued', detail: 'waits for a free slot of a worker', until: null }
}

function attemptOfRow(row: AttemptRow): Attempt {
  const failed = row.error_class !== null
  return {
    attempt: row.attempt,
    state: row.state,
    executor: row.executor,
    workerId: row.worker_id,
    submittedAt: row.submitted_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    exitCode: row.exit_code,
    error: failed ? { class: row.error_class!, message: row.error_message ?? '', stack: row.error_stack } : null,
    externalRef: row.external_ref,
    progress: row.progress,
  }
}

export async function readResult(pool: pg.Pool, runId: string): Promise<{ run: Run; text: string | null } | null> {
  const { rows } = await pool.query<RunRow & { result_text: string | null }>(READ_RESULT, [runId])
  const row = rows[0]
  return row ? { run: runOfRow(row), text: row.result_text } : null
}
