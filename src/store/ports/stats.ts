/**
 * The port to what happened over time: counts and durations per minute, hour and day, added up from the events of runs.
 *
 * Every event is counted once, however many processes try, and whichever of them dies at it: the counts and the place up to which events
 * are counted change in one transaction. Counting runs a few seconds behind. It began with the migration that made it; what
 * happened before is not in it.
 */

import type { Histogram } from '../../run/histogram.ts'

export type Grain = 'minute' | 'hour' | 'day'

export type StatsCounts = {
  created: number
  started: number
  succeeded: number
  failed: number
  cancelled: number
  /** Attempts that failed and are followed by another. */
  retried: number
  /** Leases that expired, whatever became of the run. */
  reclaimed: number
}

export type StatsBucket = StatsCounts & {
  at: Date
  /** From creation to first start, and from first start to the end. */
  lag: Histogram
  duration: Histogram
}

/** Null for all of them. */
export type StatsFilter = { model: string | null; queue: string | null }

export type StatsAsked = StatsFilter & { grain: Grain; from: Date; to: Date }

/** What there is now, counted by index up to a limit. */
export type StatsNow = {
  pending: number
  pendingCapped: boolean
  running: number
  runningCapped: boolean
  oldestWaiting: { runId: string; since: Date; seconds: number } | null
}

/** `rolledAt`: up to when events are counted; `since`: from when on. */
export type StatsPlace = { now: Date; since: Date; rolledAt: Date }

export type Rolled =
  | { outcome: 'rolled'; events: number; more: boolean }
  /** Another process is at it, or it was done a moment ago. */
  | { outcome: 'left' }
  /** The database is a copy in another cluster, whose transactions have lower numbers: counting begins anew. */
  | { outcome: 'restarted' }

export interface Stats {
  /** Counts a limited number of new events, unless that was done less than `minAgeMs` ago. */
  roll(options: { minAgeMs: number }): Promise<Rolled>
  /** Deletes minutes and hours that are no longer kept. */
  forgetOld(): Promise<number>
  place(): Promise<StatsPlace>
  /** Only buckets in which something happened, the oldest first. */
  buckets(asked: StatsAsked): Promise<StatsBucket[]>
  /** Everything that has been counted. */
  totals(filter: StatsFilter): Promise<StatsCounts>
  now(filter: StatsFilter): Promise<StatsNow>
}
