/** How a row of model_runs, as its holder needs it, becomes a Lease. */

import type { Lease } from './store.ts'

/** Of `model_runs r`. */
export const LEASE_COLUMNS = `r.id, r.lease_epoch, r.attempt_count, r.owner, r.model, r.model_version, r.queue, r.executor, r.parameters,
  r.payload_hash, r.seed, r.timeout_seconds, r.max_attempts, r.release_count, r.reclaim_count,
  date_part('epoch', r.started_at - r.created_at) AS queued_seconds, date_part('epoch', clock() - r.started_at) AS started_seconds`

export type LeaseRow = {
  id: string
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

export function leaseOfRow(row: LeaseRow): Lease {
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
