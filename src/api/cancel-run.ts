/** Cancelling a run, the same for one and for many: the store decides, and the holder of a running one is told at once. */

import type { Cancelled } from '../store/store.ts'
import { runFields } from '../telemetry/log.ts'
import type { ApiDeps } from './api.ts'

export type CancelRun = (id: string, sees: string | null, requestId: string) => Promise<Cancelled>

export function createCancelRun({ store, wakeup, log }: Pick<ApiDeps, 'store' | 'wakeup' | 'log'>): CancelRun {
  return async (id, sees, requestId) => {
    const cancelled = await store.cancel(id, sees)
    if (cancelled.outcome === 'not-found' || cancelled.outcome === 'already-finished') return cancelled
    const isRequested = cancelled.outcome === 'requested'
    if (isRequested) wakeup.hint(`worker:${cancelled.holder}`, id)
    const { run } = cancelled
    const fields = { request_id: requestId, ...runFields({ ...run, runId: id, workerId: run.leaseOwner }) }
    log.info(fields, isRequested ? 'run cancel requested' : 'run cancelled')
    return cancelled
  }
}
