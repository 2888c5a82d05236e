/**
 * The janitor's work on quotas: holds of runs that have ended, reservations past their time, and rules that a dead process left half set. None
 * of it decides what is used; it keeps counting cheap and what people see tidy.
 */

import type { Quotas } from '../store/ports/quotas.ts'
import type { Reservations } from '../store/ports/reservations.ts'

const BATCH_MAX = 1_000
/** A look that takes long is taken less often: at most a twentieth of the time goes into it. */
const REST_PER_LOOK = 20

export type TidyQuotasDeps = { store: { quotas?: Pick<Quotas, 'tidy'>; reservations?: Pick<Reservations, 'tidy'> } }

/** Answers whether there may be more. */
export function createTidyQuotas(nowMs = () => performance.now()): (deps: TidyQuotasDeps) => Promise<boolean> {
  let nextAtMs = 0
  return async ({ store: { quotas, reservations } }) => {
    const startedAtMs = nowMs()
    if (startedAtMs < nextAtMs) return false
    const isMore = ((await quotas?.tidy(BATCH_MAX)) ?? false) || ((await reservations?.tidy(BATCH_MAX)) ?? false)
    const endedAtMs = nowMs()
    nextAtMs = isMore ? 0 : endedAtMs + REST_PER_LOOK * (endedAtMs - startedAtMs)
    return isMore
  }
}
