/**
 * Cancelling a run, the same for one and for many: the store decides, and the holder of a running one is told at once. The place of a concurrency
 * key that one leaves goes to the next at once.
 */

import type { Cancelled } from '../store/store.ts'
import { runFields } from '../telemetry/log.ts'
import type { ApiDeps } from './api.ts'
import { createPlacesSignal } from './freed-places.ts'

export type CancelRun = (id: string, sees: string | null, requestId: string) => Promise<Cancelled>

export function createCancelRun({ store, wakeup, log }: Pick<ApiDeps, 'store' | 'wakeup' | 'log'>): CancelRun {
  const givePlaces = createPlacesSignal({ store, wakeup })
  return async (id, sees, requestId) => {
    const cancelled = await store.cancel(id, sees)
    if (cancelled.outcome === 'not-found' || cancelled.outcome === 'already-finished') return cancelled
    const isRequested = cancelled.outcome === 'requested'
    if (isRequested) wakeup.hint(`worker:${cancelled.holder}`, id)
    else if (store.blocks.areKeysInUse) givePlaces(id)
    const { run } = cancelled
    const fields = { request_id: requestId, ...runFields({ ...run, runId: id, workerId: run.leaseOwner }) }
    log.info(fields, isRequested ? 'run cancel requested' : 'run cancelled')
    return cancelled
  }
}
