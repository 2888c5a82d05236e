/** The query of `GET /stats` and its answer. Buckets begin at full minutes, hours or days in UTC. */

import { z } from 'zod'

/** For a chart: two days of minutes, four months of hours, eight years of days. */
export const STATS_BUCKETS_MAX = 3_000

const time = z.iso.datetime()
const moment = z.iso.datetime({
  offset: true,
  error: 'must be an ISO 8601 time with a zone, such as 2030-01-31T08:00:00Z',
})
const count = z.int().min(0)

export const StatsQuery = z.strictObject({
  /** An hour of minutes, a day of hours or a month of days when not given. */
  from: moment.optional(),
  /** Now when not given. */
  to: moment.optional(),
  bucket: z.enum(['minute', 'hour', 'day']).optional(),
  model: z.string().min(1).max(128).optional(),
  queue: z.string().min(1).max(128).optional(),
})

/** Null when there were no values. */
const percentiles = z.strictObject({
  p50: z.number().nullable(),
  p90: z.number().nullable(),
  p99: z.number().nullable(),
})

const counts = {
  created: count,
  started: count,
  succeeded: count,
  failed: count,
  cancelled: count,
  /** Attempts that failed and are followed by another. */
  retried: count,
  /** Leases that expired, whatever became of the run. */
  reclaimed: count,
}

export const StatsCountsObject = z.strictObject({
  ...counts,
  /** Runs that ended, per second. */
  throughput_per_second: z.number(),
  /** Of the runs that ended SUCCEEDED or FAILED, the part that FAILED. */
  failure_ratio: z.number().nullable(),
  /** From the creation of a run to its first start. */
  queue_lag_seconds: percentiles,
  /** From the first start of a run to its end. */
  duration_seconds: percentiles,
})

export const StatsBucketObject = StatsCountsObject.extend({ at: time })

export const StatsAnswer = z.strictObject({
  bucket: z.enum(['minute', 'hour', 'day']),
  from: time,
  to: time,
  model: z.string().nullable(),
  queue: z.string().nullable(),
  /** Counting began then; what happened before is in no bucket and no total. */
  since: time,
  /** Everything up to about then is counted. */
  rolled_up_at: time,
  /** Every bucket from `from` to `to`, also those in which nothing happened. */
  data: z.array(StatsBucketObject),
  /** Over all of `data`. */
  total: StatsCountsObject,
  now: z.strictObject({
    /** There are more than that when `pending_capped`. */
    pending: count,
    pending_capped: z.boolean(),
    running: count,
    running_capped: z.boolean(),
    oldest_waiting: z.strictObject({ run_id: z.guid(), since: time, seconds: z.number() }).nullable(),
  }),
  /** Everything since counting began. */
  all_time: z.strictObject(counts),
})

export type StatsQuery = z.infer<typeof StatsQuery>
export type StatsCountsObject = z.infer<typeof StatsCountsObject>
export type StatsAnswer = z.infer<typeof StatsAnswer>
