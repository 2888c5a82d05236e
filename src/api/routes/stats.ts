/** Statistics: what happened per minute, hour or day, from the rollup, and what there is now. For operators: it is about everyone's runs. */

import type { FastifyInstance } from 'fastify'
import { StatsAnswer, type StatsCountsObject, StatsQuery } from '../../contract/stats.ts'
import { addHistograms, type Histogram, percentile } from '../../run/histogram.ts'
import type { StatsBucket, StatsCounts, StatsNow } from '../../store/ports/stats.ts'
import type { ApiDeps } from '../api.ts'
import { checkedQuery } from '../query.ts'
import type { RouteDoc } from '../route-doc.ts'
import { sendJson } from '../send-json.ts'
import { BUCKET_MS, statsRange } from '../stats-range.ts'

const DOC: RouteDoc = {
  summary: 'Read statistics',
  description: [
    'Counts, throughput, failure ratio and percentiles of queue lag and duration per time bucket, from a rollup that runs a few',
    'seconds behind. Minutes are kept for 48 hours, hours for 400 days, days for ever. Percentiles are within 5 %.',
  ].join(' '),
  tag: 'stats',
  query: StatsQuery,
  answers: { 200: { description: 'The statistics.', schema: StatsAnswer } },
  refusals: ['invalid-query'],
}

type Measured = StatsCounts & { lag: Histogram; duration: Histogram }

const NOTHING: Measured = {
  created: 0,
  started: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  retried: 0,
  reclaimed: 0,
  lag: {},
  duration: {},
}
const COUNTED = ['created', 'started', 'succeeded', 'failed', 'cancelled', 'retried', 'reclaimed'] as const

export function statsRoutes(app: FastifyInstance, { store }: ApiDeps): void {
  app.get('/stats', { config: { role: 'operator', doc: DOC } }, async (request, reply) => {
    const query = checkedQuery(request, StatsQuery)
    const { model = null, queue = null } = query
    const place = await store.stats.place()
    const { grain, from, to, starts } = statsRange(query, place.now)
    const [buckets, totals, now] = await Promise.all([
      store.stats.buckets({ model, queue, grain, from, to }),
      store.stats.totals({ model, queue }),
      store.stats.now({ model, queue }),
    ])
    const found = new Map(buckets.map((bucket) => [bucket.at.getTime(), bucket]))
    // Of a bucket that is not over, only the part that has been counted.
    const secondsFrom = (start: Date, end: number) =>
      Math.max(1, (Math.min(end, place.rolledAt.getTime()) - start.getTime()) / 1_000)
    const answer: StatsAnswer = {
      bucket: grain,
      from: from.toISOString(),
      to: to.toISOString(),
      model,
      queue,
      since: place.since.toISOString(),
      rolled_up_at: place.rolledAt.toISOString(),
      data: starts.map((start) => {
        const seconds = secondsFrom(start, start.getTime() + BUCKET_MS[grain])
        return { at: start.toISOString(), ...countsObject(found.get(start.getTime()) ?? NOTHING, seconds) }
      }),
      total: countsObject(sumOf(buckets), secondsFrom(from, to.getTime())),
      now: nowObject(now),
      all_time: onlyCounts(totals),
    }
    return sendJson(reply, answer)
  })
}

function sumOf(buckets: StatsBucket[]): Measured {
  const sum = {
    ...NOTHING,
    lag: addHistograms(buckets.map(({ lag }) => lag)),
    duration: addHistograms(buckets.map(({ duration }) => duration)),
  }
  for (const bucket of buckets) for (const name of COUNTED) sum[name] += bucket[name]
  return sum
}

function countsObject(measured: Measured, seconds: number): StatsCountsObject {
  const { succeeded, failed, cancelled, lag, duration } = measured
  return {
    ...onlyCounts(measured),
    throughput_per_second: (succeeded + failed + cancelled) / seconds,
    failure_ratio: succeeded + failed === 0 ? null : failed / (succeeded + failed),
    queue_lag_seconds: percentiles(lag),
    duration_seconds: percentiles(duration),
  }
}

function onlyCounts({ created, started, succeeded, failed, cancelled, retried, reclaimed }: StatsCounts): StatsCounts {
  return { created, started, succeeded, failed, cancelled, retried, reclaimed }
}

function percentiles(histogram: Histogram): StatsCountsObject['duration_seconds'] {
  return { p50: percentile(histogram, 0.5), p90: percentile(histogram, 0.9), p99: percentile(histogram, 0.99) }
}

function nowObject({ pending, pendingCapped, running, runningCapped, oldestWaiting }: StatsNow): StatsAnswer['now'] {
  return {
    pending,
    pending_capped: pendingCapped,
    running,
    running_capped: runningCapped,
    oldest_waiting: oldestWaiting && {
      run_id: oldestWaiting.runId,
      since: oldestWaiting.since.toISOString(),
      seconds: oldestWaiting.seconds,
    },
  }
}
