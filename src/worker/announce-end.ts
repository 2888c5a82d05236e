/** How the end of an attempt is counted and logged, once it is settled. */

import type { Settled, Settlement } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export type AnnounceDeps = {
  metrics: Metrics
  log: Log
  model: string
  /** What every line of the log says about the run. */
  fields: object
  /** Since the first start of the run. */
  durationSeconds: number
}

export function announceEnd(settlement: Settlement, settled: Settled, deps: AnnounceDeps): void {
  const { metrics, log, fields, durationSeconds } = deps
  if (settled.status === 'stale') {
    metrics.lateResultsDiscarded.inc()
    log.warn(fields, 'late result discarded: the lease had been lost')
    return
  }
  metrics.attempts.inc(ATTEMPT_STATE_OF[settlement.kind])
  if (settled.status === 'SUCCEEDED') metrics.runsSucceeded.inc()
  else if (settled.status === 'FAILED') metrics.runsFailed.inc()
  else if (settled.status === 'CANCELLED') metrics.runsCancelled.inc()
  metrics.runDuration.observe(deps.model, durationSeconds)
  if (settlement.kind === 'succeed') {
    log.info({ ...fields, duration_seconds: durationSeconds }, 'run succeeded')
    return
  }
  const { error, delaySeconds } = settlement
  log.warn(
    { error_class: error?.class, error: error?.message, delay_seconds: delaySeconds, ...fields },
    ENDED[settlement.kind],
  )
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
