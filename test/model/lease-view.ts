/** What the model predicts about a lease, from the lease that the store gave and from the model's run. */

import type { Lease } from '../../src/store/store.ts'
import type { ModelRun } from './model.ts'
import { LEASE_MS } from './operations.ts'

export type LeaseView = ReturnType<typeof leaseView>

export function leaseView({ runId, epoch, attempt, model, modelVersion, queue, executor, ...lease }: Lease) {
  const { payloadHash, releaseCount, reclaimCount, maxAttempts, startedSeconds } = lease
  return {
    ...{ runId, epoch, attempt, model, modelVersion, queue, executor },
    ...{ payloadHash, releaseCount, reclaimCount, maxAttempts },
    startedMs: Math.round(startedSeconds * 1_000),
  }
}

export function wantedLease({ request, state, executor, reclaimCount, startedAtMs }: ModelRun): LeaseView {
  const { id: runId, model, modelVersion, queue, payloadHash } = request
  const { leaseEpoch: epoch, attemptCount: attempt, releaseCount, maxAttempts } = state
  return {
    ...{ runId, epoch, attempt, model, modelVersion, queue, executor },
    ...{ payloadHash, releaseCount, reclaimCount, maxAttempts },
    startedMs: state.leaseExpiresAtMs! - LEASE_MS - startedAtMs!,
  }
}

export function byRunId(a: LeaseView, b: LeaseView): number {
  return a.runId < b.runId ? -1 : 1
}
