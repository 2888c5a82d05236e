/**
 * Follows batches for this process: each batch that somebody here listens to is counted once in a while, for all its
 * listeners together, and they are told when the counts are others than before. Without listeners the database is not asked.
 *
 * Who joins gets the latest counts at once. A count that fails is repeated; only the first one's failure is told to those
 * who wait for it. A batch that takes long to count is counted less often.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Batch, BatchCounts, Batches } from '../store/ports/batches.ts'
import type { Log } from '../telemetry/log.ts'

export type FollowedBatch = Pick<Batch, 'id' | 'owner'>

export type BatchFollower = {
  /** Answers the counts as they are now, and how to stop listening. */
  listen(
    batch: FollowedBatch,
    onCounts: (counts: BatchCounts) => void,
  ): Promise<{ counts: BatchCounts; close: () => void }>
  close(): Promise<void>
}

export type BatchFollowerOptions = { batches: Pick<Batches, 'count'>; log: Log; pollMs: number }

type Watch = {
  listeners: Set<(counts: BatchCounts) => void>
  first: Promise<BatchCounts>
  counts: BatchCounts | null
  loop: Promise<void>
}

/** Of the time, at most a fifth is spent counting one batch. */
const PAUSE_PER_COUNT = 4
const FAILED_PAUSE_MS_MAX = 10_000

export function createBatchFollower({ batches, log, pollMs }: BatchFollowerOptions): BatchFollower {
  const watches = new Map<string, Watch>()
  const stop = new AbortController()

  function begin(key: string, { id, owner }: FollowedBatch): Watch {
    const count = () => batches.count(id, owner)
    const first = count()
    const watch: Watch = { listeners: new Set(), first, counts: null, loop: Promise.resolve() }
    watches.set(key, watch)
    watch.loop = follow(watch, count, id).finally(() => forget(key, watch))
    return watch
  }

  function forget(key: string, watch: Watch): void {
    if (watches.get(key) === watch) watches.delete(key)
  }

  async function follow(watch: Watch, count: () => Promise<BatchCounts>, id: string): Promise<void> {
    let failures = 0
    let tookMs = 0
    try {
      watch.counts = await watch.first
    } catch {
      // Those who wait for it are told, and whoever comes next begins anew.
      return
    }
    for (;;) {
      const pauseMs = Math.max(pollMs, PAUSE_PER_COUNT * tookMs, failures && failedPauseMs(failures, pollMs))
      await delay(pauseMs * (0.9 + Math.random() / 5), null, { signal: stop.signal }).catch(() => {})
      if (watch.listeners.size === 0 || stop.signal.aborted) return
      const beganMs = performance.now()
      try {
        tell(watch, await count())
        failures = 0
      } catch (error) {
        failures += 1
        if (failures === 1) log.warn({ batch_id: id, err: error }, 'a batch could not be counted')
      }
      tookMs = performance.now() - beganMs
    }
  }

  function tell(watch: Watch, counts: BatchCounts): void {
    if (isEqual(counts, watch.counts)) return
    watch.counts = counts
    for (const listener of [...watch.listeners]) listener(counts)
  }

  return {
    async listen(batch, onCounts) {
      const key = `${batch.id} ${batch.owner}`
      const watch = watches.get(key) ?? begin(key, batch)
      // The same function may listen twice, and each of them stops for itself.
      const listener = (counts: BatchCounts) => onCounts(counts)
      const close = () => {
        watch.listeners.delete(listener)
        // What nobody listens to grows old; whoever comes next counts anew.
        if (watch.listeners.size === 0) forget(key, watch)
      }
      watch.listeners.add(listener)
      try {
        const first = await watch.first
        return { counts: watch.counts ?? first, close }
      } catch (error) {
        close()
        throw error
      }
    },
    async close() {
      stop.abort()
      const loops = [...watches.values()].map(({ loop }) => loop)
      for (const { listeners } of watches.values()) listeners.clear()
      await Promise.all(loops)
    },
  }
}

function failedPauseMs(failures: number, pollMs: number): number {
  return Math.min(FAILED_PAUSE_MS_MAX, pollMs * 2 ** failures)
}

function isEqual(one: BatchCounts, other: BatchCounts | null): boolean {
  return other !== null && (Object.keys(one) as (keyof BatchCounts)[]).every((name) => one[name] === other[name])
}
