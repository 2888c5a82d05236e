/**
 * The janitor of a process that executes nothing itself: where all workers are remote, somebody must take back what
 * they lost, end cancels they did not confirm, and keep the statistics. It does what the janitor of every worker does;
 * several at once are harmless.
 */

import {
  cleanAttempts,
  cleanKeys,
  endUnconfirmedCancels,
  forgetWorkers,
  type JanitorDeps,
  reclaimExpiredLeases,
} from './janitor.ts'
import { Loop } from './loop.ts'
import { createStatsRoller, STATS_EVERY_MS, type StatsRollerDeps } from './roll-stats.ts'
import { type ArtifactSweepDeps, createArtifactSweep } from './sweep-artifacts.ts'

const RARE_DUTY_EVERY_MS = 60_000

export type ApiJanitorDeps = JanitorDeps &
  StatsRollerDeps & {
    everyMs: number
    blob?: ArtifactSweepDeps['blob']
    store: { artifacts?: ArtifactSweepDeps['artifacts'] }
  }

export type ApiJanitor = { start(): void; stop(): Promise<void> }

export function createApiJanitor(deps: ApiJanitorDeps): ApiJanitor {
  let rareDutyAtMs = 0
  const { blob, log } = deps
  const { artifacts } = deps.store
  const sweep = blob && artifacts ? createArtifactSweep({ blob, artifacts, log }) : null

  /** The rest of the names has time: it is gone on with when it is this duty's turn again. */
  async function sweepArtifacts(): Promise<boolean> {
    await sweep?.next()
    return false
  }

  async function tidy(): Promise<'again' | 'wait'> {
    const duties = [reclaimExpiredLeases, endUnconfirmedCancels, cleanKeys]
    if (performance.now() >= rareDutyAtMs) {
      rareDutyAtMs = performance.now() + RARE_DUTY_EVERY_MS
      duties.push(forgetWorkers, cleanAttempts, sweepArtifacts)
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
