/** Reading one run with its attempts and, while it waits, the reason; and its result. */

import type pg from 'pg'
import type { AttemptState } from '../run/status.ts'
import { RUN_COLUMNS, type RunRow, runOfRow } from './run-row.ts'
import type { Attempt, Run, RunDetail, Waiting } from './store.ts'

// One statement, hence one snapshot: a finished run is never shown with an open attempt.
export const READ_RUN = `
SELECT ${RUN_COLUMNS}, available_at > clock() AS later,
  EXISTS (SELECT FROM queues q WHERE q.queue = model_runs.queue AND q.paused) AS paused,
  status = 'PENDING' AND EXISTS (
    SELECT FROM workers w WHERE w.stopped_at IS NULL AND w.last_seen_at > clock() - interval '2 minutes'
      AND model_runs.queue = ANY(w.queues) AND model_runs.model || '@' || model_runs.model_version = ANY(w.models)) AS offered,
  (SELECT jsonb_agg(to_jsonb(a) ORDER BY a.attempt) FROM (
    SELECT attempt, state, executor, worker_id, submitted_at, started_at, finished_at, exit_code, error_class, error_message,
      error_stack, external_ref, progress
    FROM run_attempts WHERE run_id = model_runs.id) a) AS attempts
FROM model_runs WHERE id = $1`

const READ_RESULT = `
SELECT ${RUN_COLUMNS}, (SELECT result::text FROM run_results s WHERE s.run_id = model_runs.id) AS result_text
FROM model_runs WHERE id = $1`

type Facts = { later: boolean; paused: boolean; offered: boolean }

type AttemptRow = {
  attempt: number
  state: AttemptState
  executor: string
  worker_id: string
  submitted_at: string
  started_at: string | null
  finished_at: string | null
  exit_code: number | null
  error_class: string | null
  error_message: string | null
  error_stack: string | null
  external_ref: unknown
  progress: unknown
}

export async function readRun(pool: pg.Pool, runId: string): Promise<RunDetail | null> {
  const { rows } = await pool.query<RunRow & Facts & { attempts: AttemptRow[] | null }>({
    name: 'read_run',
    text: READ_RUN,
    values: [runId],
  })
  const row = rows[0]
  if (!row) return null
  const run = runOfRow(row)
  const attempts = (row.attempts ?? []).map(attemptOfRow)
  return { run, attempts, waiting: run.status === 'PENDING' ? waitingOf(run, row) : null }
}

function waitingOf(run: Run, facts: Facts): Waiting {
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
    submittedAt: new Date(row.submitted_at),
    startedAt: dateOf(row.started_at),
    finishedAt: dateOf(row.finished_at),
    exitCode: row.exit_code,
    error: failed ? { class: row.error_class!, message: row.error_message ?? '', stack: row.error_stack } : null,
    externalRef: row.external_ref,
    progress: row.progress,
  }
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}

export async function readResult(pool: pg.Pool, runId: string): Promise<{ run: Run; text: string | null } | null> {
  const { rows } = await pool.query<RunRow & { result_text: string | null }>(READ_RESULT, [runId])
  const row = rows[0]
  return row ? { run: runOfRow(row), text: row.result_text } : null
}
