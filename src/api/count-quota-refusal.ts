/** Counts refusals of quotas by the limit that bound; every other refusal passes by. */

import type { Refusal } from '../run/errors.ts'
import type { LimitName } from '../run/quota.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** Answers the refusal it was given. */
export function countQuotaRefusal(metrics: Pick<Metrics, 'quotaRefusals'>, refusal: Refusal): Refusal {
  if (refusal.code === 'quota-exceeded' || refusal.code === 'cost-limit-exceeded') {
    metrics.quotaRefusals.inc(refusal.extra?.limit as LimitName)
  }
  return refusal
}
