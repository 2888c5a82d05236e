/** Statistics as the port tells them. */

import type pg from 'pg'
import type { Stats } from './ports/stats.ts'
import { forgetOldStats, readBuckets, readNow, readStatsPlace, readTotals } from './read-stats.ts'
import { createRollStats } from './roll-stats.ts'

export type StatsOptions = {
  /** With the settings of the feed, under which run_events is read by its BRIN index. */
  feedPool: pg.Pool
  reads: pg.Pool
  /** Turns a lost connection into a refusal. */
  answered<T>(asked: Promise<T>): Promise<T>
}

export function createStats({ feedPool, reads, answered }: StatsOptions): Stats {
  return {
    roll: createRollStats(feedPool),
    forgetOld: () => forgetOldStats(reads),
    place: () => answered(readStatsPlace(reads)),
    buckets: (asked) => answered(readBuckets(reads, asked)),
    totals: (filter) => answered(readTotals(reads, filter)),
    now: (filter) => answered(readNow(reads, filter)),
  }
}
