/**
 * Giving freed places of concurrency keys to the runs in line: each second, and at once after a run that may have had a key has ended. Several
 * at once are harmless; one that dies leaves it to the next.
 *
 * Which models have keys is known; that runs have keys of their requests is seen by the look of each second, or hinted. While neither is so,
 * a run that ends costs nothing here.
 */

import type { Blocks, FreedRun, StoppedRun } from '../store/ports/blocks.ts'
import type { Log } from '../telemetry/log.ts'
import type { Topic, Wakeup } from '../wakeup/wakeup.ts'

type Given = { freed: FreedRun[]; stopped: StoppedRun[] }

export type GivePlacesDeps = {
  store: { blocks?: Pick<Blocks, 'promote'> }
  hint: (topic: Topic, runId: string) => void
  log: Pick<Log, 'info'>
}

const KEYS_MAX = 100

/** Answers whether there may be more. */
export async function givePlaces({ store, hint, log }: GivePlacesDeps): Promise<boolean> {
  const given = await store.blocks?.promote(KEYS_MAX)
  if (!given) return false
  tellOf(given, { hint, log })
  return given.more
}

export type PlacesDeps = {
  store: { blocks: Pick<Blocks, 'promote' | 'promoteAfter' | 'areKeysInUse'> }
  wakeup: Pick<Wakeup, 'hint'>
  log: Pick<Log, 'info'>
  everyMs: number
  /** Models whose runs have concurrency keys. */
  keyed: readonly { name: string; version: string }[]
}

type EndedRun = { runId: string; model: string; modelVersion: string }

/** The ticks of a loop, and what it is told meanwhile. Both tell whether to wake it. */
export type Places = {
  tick(): Promise<'again' | 'wait'>
  ended(runs: readonly EndedRun[]): boolean
  /** Somebody asks for a key. */
  keysAsked(): boolean
}

export function createPlaces({ store: { blocks }, wakeup, log, everyMs, keyed }: PlacesDeps): Places {
  const models = new Set(keyed.map(({ name, version }) => `${name}@${version}`))
  const hint = (topic: Topic, runId: string) => wakeup.hint(topic, runId)
  const ended: string[] = []
  let lookAtMs = 0

  async function look(): Promise<boolean> {
    // Less than the shortest pause of the loop, so that only ticks between two looks are without one.
    lookAtMs = performance.now() + everyMs / 2
    const isMore = await givePlaces({ store: { blocks }, hint, log })
    if (isMore) lookAtMs = 0
    return isMore
  }

  return {
    async tick() {
      const runIds = ended.splice(0)
      // Should this fail, the next look finds them.
      if (runIds.length > 0) tellOf(await blocks.promoteAfter(runIds), { hint, log })
      const isMore = performance.now() >= lookAtMs && (await look())
      return isMore ? 'again' : 'wait'
    },
    ended(runs) {
      if (!blocks.areKeysInUse && models.size === 0) return false
      const hasKey = ({ model, modelVersion }: EndedRun) =>
        blocks.areKeysInUse || models.has(`${model}@${modelVersion}`)
      const withKeys = runs.filter(hasKey)
      for (const { runId } of withKeys) ended.push(runId)
      return withKeys.length > 0
    },
    keysAsked() {
      if (blocks.areKeysInUse) return false
      lookAtMs = 0
      return true
    },
  }
}

/** Queues that have work now, and workers whose run was asked to stop. */
function tellOf({ freed, stopped }: Given, { hint, log }: Pick<GivePlacesDeps, 'hint' | 'log'>): void {
  for (const { runId } of freed) log.info({ run_id: runId }, 'run unblocked: its concurrency key has a place')
  const byQueue = new Map(freed.map(({ queue, runId }) => [queue, runId]))
  for (const [queue, runId] of byQueue) hint(`queue:${queue}`, runId)
  for (const { holder, runId } of stopped) hint(`worker:${holder}`, runId)
}
