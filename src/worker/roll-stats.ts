/**
 * Keeps the statistics up to date. Every worker tries; of those that try at once one does it, and a worker that dies at it leaves nothing
 * half counted. Counting takes at most a tenth of the time: under a rush it falls behind, and catches up afterwards.
 */

import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'

export const STATS_EVERY_MS = 5_000
const BUSY_MS_MAX = STATS_EVERY_MS / 10
const FORGET_EVERY_MS = 600_000
/** One worker in a period is enough; the others find a fresh count and leave it. */
const MIN_AGE_MS = 0.8 * STATS_EVERY_MS

export type StatsRollerDeps = { workerId: string; store: Pick<Store, 'stats'>; log: Log; nowMs?: () => number }

/** One tick of a loop: batch after batch while there are more events and time is left. */
export function createStatsRoller(deps: StatsRollerDeps): () => Promise<'wait'> {
  const { workerId, store, log, nowMs = () => performance.now() } = deps
  let forgetAtMs = nowMs()

  return async () => {
    const endMs = nowMs() + BUSY_MS_MAX
    let rolled = await store.stats.roll({ minAgeMs: MIN_AGE_MS })
    while (rolled.outcome === 'rolled' && rolled.more && nowMs() < endMs)
      rolled = await store.stats.roll({ minAgeMs: 0 })
    if (rolled.outcome === 'restarted') {
      log.warn({ worker_id: workerId }, 'statistics go on from here: the database was moved to another server')
    }
    if (nowMs() >= forgetAtMs) {
      forgetAtMs = nowMs() + FORGET_EVERY_MS
      await store.stats.forgetOld()
    }
    return 'wait'
  }
}
