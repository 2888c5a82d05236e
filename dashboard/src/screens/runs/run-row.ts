/** What a row of the list needs of a run, and no more: parameters may be large, and ten thousand rows are kept. Pure. */

import type { Run, RunStatus } from '@holdfast/client'

export type RunRow = {
  runId: string
  status: RunStatus
  /** What is special about its state, in few words; null for most. */
  note: string | null
  title: string | null
  model: string
  modelVersion: string
  owner: string
  queue: string
  tags: readonly string[]
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  attemptCount: number
  maxAttempts: number
  errorClass: string | null
}

export function rowOf(run: Run): RunRow {
  return {
    runId: run.run_id,
    status: run.status,
    note: noteOf(run),
    title: run.title,
    model: run.model,
    modelVersion: run.model_version,
    owner: run.owner,
    queue: run.queue,
    tags: run.tags,
    createdAt: run.created_at,
    startedAt: run.status === 'PENDING' ? null : run.started_at,
    finishedAt: run.finished_at,
    attemptCount: run.attempt_count,
    maxAttempts: run.max_attempts,
    errorClass: run.last_error?.class ?? null,
  }
}

function noteOf({ status, cancel_requested_at, overdue_since, waiting }: Run): string | null {
  if (status === 'RUNNING' && cancel_requested_at !== null) return 'cancelling'
  if (status === 'RUNNING' && overdue_since !== null) return 'overdue'
  if (waiting?.reason === 'approval') return 'needs approval'
  if (waiting?.reason === 'concurrency') return 'held back'
  return null
}
