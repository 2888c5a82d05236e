/**
 * Remote workers are noted as live when they ask for work and while they work, but not with each request: every ten
 * seconds at most.
 */

import type { RemoteWorker } from '../store/ports/remote.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'

const EVERY_MS = 10_000
const KEPT_MAX = 10_000

export type LeasePresence = {
  /** Resolves when it is written, or at once when it was lately. */
  seen(worker: RemoteWorker): Promise<void>
  /** Of the holder of a run, in the background. */
  holderSeen(runId: string): void
  stopped(workerId: string): Promise<void>
}

export function createLeasePresence(
  { store, log }: { store: Pick<Store, 'remote' | 'workerStopped'>; log: Log },
  nowMs: () => number = () => performance.now(),
): LeasePresence {
  const noted = new Map<string, { as: string; atMs: number }>()

  function isDue(key: string, as: string): boolean {
    const last = noted.get(key)
    const now = nowMs()
    if (last && last.as === as && now - last.atMs < EVERY_MS) return false
    if (noted.size >= KEPT_MAX) noted.clear()
    noted.set(key, { as, atMs: now })
    return true
  }

  return {
    async seen(worker) {
      if (!isDue(worker.workerId, JSON.stringify(worker))) return
      try {
        await store.remote.seen(worker)
      } catch (error) {
        noted.delete(worker.workerId)
        throw error
      }
    },
    holderSeen(runId) {
      if (!isDue(runId, '')) return
      store.remote.holderSeen(runId).catch((error: unknown) => {
        log.debug({ err: error, run_id: runId }, 'the sign of life of a remote worker was not written')
      })
    },
    async stopped(workerId) {
      noted.delete(workerId)
      await store.workerStopped(workerId)
    },
  }
}
