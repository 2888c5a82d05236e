/**
 * The janitor of a process that executes nothing itself: where all workers are remote, somebody must take back what
 * they lost, end cancels they did not confirm, and keep the statistics. It does what the janitor of every worker does;
 * several at once are harmless.
 */

import { createFlagOverdue } from './flag-overdue.ts'
import { type GivePlacesDeps, givePlaces } from './give-places.ts'
import {
  cleanAttempts,
  cleanKeys,
  endUnconfirmedCancels,
  forgetWorkers,
  type JanitorDeps,
  reclaimExpiredLeases,
} from './janitor.ts'
import { Loop } from './loop.ts'
import { createPackLogs, type PackLogsDeps } from './pack-logs.ts'
import { createStatsRoller, STATS_EVERY_MS, type StatsRollerDeps } from './roll-stats.ts'
import { createBlobSweep, type SweepDeps } from './sweep-blobs.ts'
import { createTidyCosts } from './tidy-costs.ts'
import { createTidyQuotas } from './tidy-quotas.ts'

const RARE_DUTY_EVERY_MS = 60_000
/** Every so many rounds it is looked for overdue runs. */
const OVERDUE_PER_TICK = 5

export type ApiJanitorDeps = JanitorDeps &
  StatsRollerDeps & {
    everyMs: number
    blob?: SweepDeps['blob'] & PackLogsDeps['blob']
    store: GivePlacesDeps['store'] & Partial<SweepDeps['store']> & { attemptLogs?: PackLogsDeps['logs'] }
  }

export type ApiJanitor = { start(): void; stop(): Promise<void> }

export function createApiJanitor(deps: ApiJanitorDeps): ApiJanitor {
  let rareDutyAtMs = 0
  const flagOverdue = createFlagOverdue(OVERDUE_PER_TICK * deps.everyMs)
  const tidyCosts = createTidyCosts()
  const tidyQuotas = createTidyQuotas()
  const { blob, log } = deps
  const { blobs, files, resumableUploads } = deps.store
  const isWhole = blob && blobs && files && resumableUploads
  const sweep = isWhole ? createBlobSweep({ blob, store: { blobs, files, resumableUploads }, log }) : null

  const { attemptLogs } = deps.store
  const packing =
    blob && attemptLogs ? createPackLogs({ blob, logs: attemptLogs, keepMs: deps.logKeepMs ?? null }) : null

  /** A loop of its own: a store that does not answer must not keep anybody from taking back what was lost. */
  async function tidyStored(): Promise<'again' | 'wait'> {
    const isMore = (await packing?.next()) ?? false
    // The rest of a sweep has time until the next round.
    await sweep?.next()
    return isMore ? 'again' : 'wait'
  }

  async function tidy(): Promise<'again' | 'wait'> {
    const duties: ((deps: ApiJanitorDeps) => Promise<boolean>)[] = [
      reclaimExpiredLeases,
      endUnconfirmedCancels,
      givePlaces,
      cleanKeys,
      flagOverdue,
      tidyCosts,
      tidyQuotas,
    ]
    if (performance.now() >= rareDutyAtMs) {
      rareDutyAtMs = performance.now() + RARE_DUTY_EVERY_MS
      duties.push(forgetWorkers, cleanAttempts)
    }
    let more = false
    for (const duty of duties) more = (await duty(deps)) || more
    return more ? 'again' : 'wait'
  }

  const loop = (name: string, everyMs: number, tick: () => Promise<'again' | 'wait'>) =>
    new Loop({
      everyMs,
      tick: async () => {
        const next = await tick()
        deps.metrics.loopTicked(name)
        return next
      },
      onError: (error, failures) => {
        if (failures === 1 || failures % 20 === 0)
          deps.log.error({ err: error, worker_id: deps.workerId, loop: name, failures }, 'a loop failed; it goes on')
      },
    })
  const loops = [loop('janitor', deps.everyMs, tidy), loop('stats', STATS_EVERY_MS, createStatsRoller(deps))]
  if (sweep || packing) loops.push(loop('stored', RARE_DUTY_EVERY_MS, tidyStored))

  return {
    start() {
      for (const one of loops) one.start()
    },
    async stop() {
      await Promise.all(loops.map((one) => one.stop()))
      await sweep?.stop()
    },
  }
}
