/** How the end of an attempt is counted and logged, once it is settled. */

import type { Lease, Settled, Settlement } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { leaseFields } from './lease-fields.ts'
import type { SuccessLog } from './success-log.ts'

export type AnnounceDeps = { workerId: string; metrics: Metrics; log: Log; logSuccess: SuccessLog }

export type EndedRun = { lease: Lease; settlement: Settlement; settled: Settled; durationSeconds: number }

/** `durationSeconds`: since the first start of the run. */
export function announceEnd(deps: AnnounceDeps, { lease, settlement, settled, durationSeconds }: EndedRun): void {
  const { workerId, metrics, log } = deps
  if (settled.status === 'stale') {
    metrics.lateResultsDiscarded.inc()
    log.warn(leaseFields(lease, workerId, 'RUNNING'), 'late result discarded: the lease had been lost')
    return
  }
  metrics.attempts.inc(ATTEMPT_STATE_OF[settlement.kind])
  if (settled.status === 'SUCCEEDED') metrics.runsSucceeded.inc()
  else if (settled.status === 'FAILED') metrics.runsFailed.inc()
  else if (settled.status === 'CANCELLED') metrics.runsCancelled.inc()
  metrics.runDuration.observe(lease.model, durationSeconds)
  if (settlement.kind === 'succeed') {
    deps.logSuccess(lease, durationSeconds)
    return
  }
  const { error, delaySeconds } = settlement
  const fields = leaseFields(lease, workerId, settled.status)
  const why = { error_class: error?.class, error: error?.message, delay_seconds: delaySeconds }
  log.warn({ ...why, ...fields }, ENDED[settlement.kind])
}

const ATTEMPT_STATE_OF = {
  succeed: 'SUCCEEDED',
  fail: 'FAILED',
  retry: 'FAILED',
  cancel: 'CANCELLED',
  release: 'RELEASED',
  lost: 'LOST',
} as const

const ENDED = {
  fail: 'run failed',
  retry: 'attempt failed; a retry is scheduled',
  cancel: 'run cancelled',
  release: 'run released for another worker',
  lost: 'attempt lost: its engine does not have the job any more',
} as const
