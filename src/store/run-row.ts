/** How a row of model_runs becomes a Run. */

import type { RunStatus } from '../run/status.ts'
import type { NewRun, Run } from './store.ts'

export const RUN_COLUMNS = `id, status, owner, model, model_version, queue, priority, executor, parameters, payload_hash, seed, title, tags,
  batch_id, retry_of, reproduces, created_at, available_at, started_at, finished_at, timeout_seconds, expected_seconds, max_attempts,
  attempt_count, release_count, reclaim_count, lease_owner, lease_expires_at, lease_epoch, heartbeat_at, cancel_requested_at,
  event_seq, last_error, last_error_class, last_error_attempt, result_ref, result_hash`

export type RunRow = {
  id: string
  status: RunStatus
  owner: string
  model: string
  model_version: string
  queue: string
  priority: number
  executor: string
  parameters: unknown
  payload_hash: string
  seed: number
  title: string | null
  tags: string[]
  batch_id: string | null
  retry_of: string | null
  reproduces: string | null
  created_at: Date
  available_at: Date
  started_at: Date | null
  finished_at: Date | null
  timeout_seconds: number
  expected_seconds: number | null
  max_attempts: number
  attempt_count: number
  release_count: number
  reclaim_count: number
  lease_owner: string | null
  lease_expires_at: Date | null
  lease_epoch: number
  heartbeat_at: Date | null
  cancel_requested_at: Date | null
  /** Only where it was asked for. */
  overdue_since?: Date | null
  event_seq: number
  last_error: string | null
  last_error_class: string | null
  last_error_attempt: number | null
  result_ref: string | null
  result_hash: string | null
}

export function runOfRow(row: RunRow): Run {
  return {
    id: row.id,
    status: row.status,
    owner: row.owner,
    model: row.model,
    modelVersion: row.model_version,
    queue: row.queue,
    priority: row.priority,
    executor: row.executor,
    parameters: row.parameters,
    payloadHash: row.payload_hash,
    seed: row.seed,
    title: row.title,
    tags: row.tags,
    batchId: row.batch_id,
    retryOf: row.retry_of,
    reproduces: row.reproduces,
    createdAt: row.created_at,
    availableAt: row.available_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    timeoutSeconds: row.timeout_seconds,
    expectedSeconds: row.expected_seconds,
    maxAttempts: row.max_attempts,
    attemptCount: row.attempt_count,
    releaseCount: row.release_count,
    reclaimCount: row.reclaim_count,
    leaseOwner: row.lease_owner,
    leaseExpiresAt: row.lease_expires_at,
    leaseEpoch: row.lease_epoch,
    heartbeatAt: row.heartbeat_at,
    cancelRequestedAt: row.cancel_requested_at,
    overdueSince: row.overdue_since ?? null,
    eventSeq: row.event_seq,
    lastError:
      row.last_error === null
        ? null
        : { class: row.last_error_class ?? 'Error', message: row.last_error, attempt: row.last_error_attempt ?? 0 },
    resultRef: row.result_ref,
    resultHash: row.result_hash,
  }
}

/** A run just created, without reading back what the request already said. */
export function runOfNew(run: NewRun, createdAt: Date, availableAt: Date): Run {
  return {
    id: run.id,
    status: 'PENDING',
    owner: run.owner,
    model: run.model,
    modelVersion: run.modelVersion,
    queue: run.queue,
    priority: run.priority,
    executor: run.executor,
    parameters: run.parameters,
    payloadHash: run.payloadHash,
    seed: run.seed,
    title: run.title,
    tags: run.tags,
    batchId: run.batchId,
    retryOf: run.retryOf,
    reproduces: null,
    createdAt,
    availableAt,
    startedAt: null,
    finishedAt: null,
    timeoutSeconds: run.timeoutSeconds,
    expectedSeconds: run.expectedSeconds,
    maxAttempts: run.maxAttempts,
    attemptCount: 0,
    releaseCount: 0,
    reclaimCount: 0,
    leaseOwner: null,
    leaseExpiresAt: null,
    leaseEpoch: 0,
    heartbeatAt: null,
    cancelRequestedAt: null,
    overdueSince: null,
    eventSeq: 1,
    lastError: null,
    resultRef: null,
    resultHash: null,
  }
}
