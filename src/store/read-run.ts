/** Reading one run with its attempts and, while it waits, the reason; and its result. */

import type pg from 'pg'
import { isBlocked } from '../run/blocked.ts'
import type { AttemptState } from '../run/status.ts'
import { whyItWaits } from '../run/waiting.ts'
import { RUN_FILE_ORDER } from './find-files.ts'
import type { RunCosts } from './ports/costs.ts'
import type { DescribedFile } from './ports/files.ts'
import { readBlocks } from './read-blocks.ts'
import { RUN_COLUMNS, type RunRow, runOfRow } from './run-row.ts'
import type { Attempt, Run, RunDetail } from './store.ts'
import { readWaitingFacts } from './waiting.ts'

// One statement, hence one snapshot: a finished run is never shown with an open attempt.
export const READ_RUN = `
SELECT ${RUN_COLUMNS},
  (SELECT since FROM run_overdue o WHERE o.run_id = model_runs.id AND o.attempt = model_runs.attempt_count AND status = 'RUNNING')
    AS overdue_since,
  (SELECT jsonb_agg(to_jsonb(a) ORDER BY a.attempt) FROM (
    SELECT attempt, state, executor, worker_id, submitted_at, started_at, finished_at, exit_code, error_class, error_message,
      error_stack, external_ref, progress, cpu_seconds, peak_memory_bytes, log_ref
    FROM run_attempts WHERE run_id = model_runs.id) a) AS attempts,
  (SELECT jsonb_agg(to_jsonb(f)) FROM (
    SELECT r.parameter, r.file_id AS "fileId", r.name, b.bytes, COALESCE(u.type, b.type) AS type
    FROM run_files r JOIN files b ON b.id = r.file_id LEFT JOIN LATERAL (
      SELECT type FROM file_uploads WHERE file_id = b.id AND owner = model_runs.owner ORDER BY created_at DESC LIMIT 1) u ON true
    WHERE r.run_id = model_runs.id ORDER BY ${RUN_FILE_ORDER}) f) AS files,
  (SELECT to_jsonb(c) FROM (
    SELECT state, held::float8 AS held, settled::float8 AS settled, currency FROM cost_ledger WHERE run_id = model_runs.id) c) AS cost
FROM model_runs WHERE id = $1`

const READ_RESULT = `
SELECT ${RUN_COLUMNS}, (SELECT result::text FROM run_results s WHERE s.run_id = model_runs.id) AS result_text
FROM model_runs WHERE id = $1`

type DetailRow = { attempts: AttemptRow[] | null; files: DescribedFile[] | null; cost: RunCosts | null }

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
  cpu_seconds: number | null
  peak_memory_bytes: number | null
  log_ref: string | null
}

/** One that waits is looked at twice, and once more when it changed in between, so that the reason belongs to what is shown. */
const LOOKS_MAX = 10

export type ReadRunPools = {
  reads: pg.Pool
  /** With plans that are kept; see `waiting.ts`. */
  pinned?: pg.Pool
}

/** `sees`: whose runs may be named as holders of a limit, null for everyone's; without it, those of the run's own owner. */
export async function readRun(
  { reads, pinned = reads }: ReadRunPools,
  runId: string,
  sees?: string | null,
): Promise<RunDetail | null> {
  for (let looks = 1; ; looks += 1) {
    const values = [runId]
    const { rows } = await reads.query<RunRow & DetailRow>({
      name: 'read_run',
      text: READ_RUN,
      values,
    })
    const row = rows[0]
    if (!row) return null
    const run = runOfRow(row)
    const attempts = (row.attempts ?? []).map(attemptOfRow)
    const shown = { run, attempts, files: row.files ?? [], cost: row.cost }
    if (run.status !== 'PENDING') return { ...shown, waiting: null }
    if (isBlocked(run)) {
      const waiting = (await readBlocks(pinned, [runId], sees === undefined ? run.owner : sees)).get(runId)
      if (waiting) return { ...shown, waiting }
    }
    const { eventSeq } = run
    const facts = await readWaitingFacts(pinned, { runId, eventSeq, sees: sees === undefined ? run.owner : sees })
    if (facts) return { ...shown, waiting: whyItWaits(run, facts) }
    if (looks === LOOKS_MAX) throw new Error(`run ${runId} changed at every look`)
  }
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
    cpuSeconds: row.cpu_seconds,
    peakMemoryBytes: row.peak_memory_bytes,
    logRef: row.log_ref,
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
