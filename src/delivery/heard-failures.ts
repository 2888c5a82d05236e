/**
 * How often a delivery has really failed. A try is counted when it is claimed, also when the relay died before it could say how it went; such a
 * try says nothing of the receiver and must not be one of those after which a delivery is given up.
 */

import type { ClaimedDelivery, Deliveries } from '../store/ports/deliveries.ts'

/** So many relays may end while they send one delivery before it counts as their cause. */
export const UNHEARD_MAX = 20

export type HeardFailures = (delivery: ClaimedDelivery) => Promise<number>

/** Of the tries before this one; asked only when a delivery may be given up. */
export function createHeardFailures(deliveries: Pick<Deliveries, 'find'>): HeardFailures {
  return async ({ id, attempts, tries }) => {
    const found = await deliveries.find(id, null)
    const log = (found?.attempts ?? []).filter(({ attempt }) => attempt < attempts && attempt >= attempts - tries)
    return log.filter(({ durationMs, error }) => durationMs !== null && error !== null).length
  }
}
