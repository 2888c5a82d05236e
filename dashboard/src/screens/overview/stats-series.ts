/**
 * Statistics as charts: one time per bucket of the range, also for buckets the answer leaves out, and a gap wherever nothing was
 * counted: before counting began, behind what has been counted, and where a percentile or a ratio has no values.
 */

import type { Stats, StatsBucket, StatsCounts } from '@holdfast/client'
import type { ChartSeries, Tone } from '../../parts/chart-series.ts'

export const WIDTH_SECONDS: Record<StatsBucket, number> = { minute: 60, hour: 3_600, day: 86_400 }

export type ChartName = 'ended' | 'throughput' | 'failures' | 'arrivals' | 'lag' | 'duration'

export type StatsSeries = { starts: string[]; widthSeconds: number; charts: Record<ChartName, ChartSeries[]> }

type Row = Stats['data'][number] | null
type Pick = { name: string; tone: Tone; of: (counts: StatsCounts) => number | null }

const PICKS: Record<ChartName, Pick[]> = {
  ended: [
    { name: 'succeeded', tone: 'good', of: ({ succeeded }) => succeeded },
    { name: 'failed', tone: 'bad', of: ({ failed }) => failed },
    { name: 'cancelled', tone: 'quiet', of: ({ cancelled }) => cancelled },
  ],
  throughput: [{ name: 'ended', tone: 'first', of: ({ throughput_per_second: rate }) => rate }],
  failures: [{ name: 'failed', tone: 'bad', of: ({ failure_ratio: ratio }) => ratio }],
  arrivals: [
    { name: 'created', tone: 'first', of: ({ created }) => created },
    { name: 'retried', tone: 'second', of: ({ retried }) => retried },
    { name: 'reclaimed', tone: 'third', of: ({ reclaimed }) => reclaimed },
  ],
  lag: percentiles(({ queue_lag_seconds: lag }) => lag),
  duration: percentiles(({ duration_seconds: duration }) => duration),
}

function percentiles(of: (counts: StatsCounts) => StatsCounts['duration_seconds']): Pick[] {
  return [
    { name: 'p50', tone: 'first', of: (counts) => of(counts).p50 },
    { name: 'p90', tone: 'second', of: (counts) => of(counts).p90 },
    { name: 'p99', tone: 'third', of: (counts) => of(counts).p99 },
  ]
}

export function statsSeries(stats: Stats): StatsSeries {
  const widthSeconds = WIDTH_SECONDS[stats.bucket]
  const starts = startsOf(stats, widthSeconds * 1_000)
  const found = new Map(stats.data.map((row) => [Date.parse(row.at), row]))
  const isCounted = (startMs: number) =>
    startMs + widthSeconds * 1_000 > Date.parse(stats.since) && startMs < Date.parse(stats.rolled_up_at)
  const rows: Row[] = starts.map((startMs) => (isCounted(startMs) ? (found.get(startMs) ?? null) : null))
  const drawn = ([name, picks]: [string, Pick[]]) => [name, picks.map((pick) => seriesOf(pick, rows, stats.total))]
  return {
    starts: starts.map((startMs) => new Date(startMs).toISOString()),
    widthSeconds,
    charts: Object.fromEntries(Object.entries(PICKS).map(drawn)),
  }
}

function startsOf({ from, to }: Stats, widthMs: number): number[] {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
  return Array.from(
    { length: Math.max(0, Math.ceil((toMs - fromMs) / widthMs)) },
    (_, index) => fromMs + index * widthMs,
  )
}

function seriesOf({ name, tone, of }: Pick, rows: Row[], total: StatsCounts): ChartSeries {
  return { name, tone, values: rows.map((row) => row && of(row)), whole: of(total) }
}
