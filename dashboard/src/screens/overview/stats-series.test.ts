import type { Stats } from '@holdfast/client'
import { describe, expect, test } from 'vitest'
import { rangeNamed, statsQuery } from './stats-range.ts'
import { statsSeries } from './stats-series.ts'
import { formatRate, formatRatio } from './stats-words.ts'

const NOTHING = { p50: null, p90: null, p99: null }
const COUNTS = {
  created: 0,
  started: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  retried: 0,
  reclaimed: 0,
  throughput_per_second: 0,
  failure_ratio: null,
  queue_lag_seconds: NOTHING,
  duration_seconds: NOTHING,
}

function statsOf(data: Stats['data'], more: Partial<Stats> = {}): Stats {
  return {
    bucket: 'minute',
    from: '2030-01-01T10:00:00.000Z',
    to: '2030-01-01T10:04:00.000Z',
    model: null,
    queue: null,
    since: '2029-01-01T00:00:00.000Z',
    rolled_up_at: '2030-01-01T10:03:58.000Z',
    data,
    total: { ...COUNTS, succeeded: 5, failed: 1, failure_ratio: 1 / 6 },
    now: { pending: 0, pending_capped: false, running: 0, running_capped: false, oldest_waiting: null },
    all_time: COUNTS,
    ...more,
  }
}

const at = (minute: number) => `2030-01-01T10:0${minute}:00.000Z`
const FULL = [0, 1, 2, 3].map((minute) => ({ ...COUNTS, at: at(minute), succeeded: minute }))

describe('series', () => {
  test('every bucket of the range has a place, and the values are those of the answer', () => {
    const { starts, widthSeconds, charts } = statsSeries(statsOf(FULL))
    expect(starts).toEqual([0, 1, 2, 3].map(at))
    expect(widthSeconds).toBe(60)
    expect(charts.ended.map(({ name, values, whole }) => [name, values, whole])).toEqual([
      ['succeeded', [0, 1, 2, 3], 5],
      ['failed', [0, 0, 0, 0], 1],
      ['cancelled', [0, 0, 0, 0], 0],
    ])
  })

  test('a bucket the answer leaves out is a gap, not a zero', () => {
    const { starts, charts } = statsSeries(statsOf([FULL[0]!, FULL[3]!]))
    expect(starts).toHaveLength(4)
    expect(charts.ended[0]!.values).toEqual([0, null, null, 3])
  })

  test('nothing is claimed of times before counting began or behind what has been counted', () => {
    const known = { since: '2030-01-01T10:01:30.000Z', rolled_up_at: '2030-01-01T10:03:00.000Z' }
    expect(statsSeries(statsOf(FULL, known)).charts.ended[0]!.values).toEqual([null, 1, 2, null])
  })

  test('a percentile or a ratio without values is a gap', () => {
    const lag = { p50: 0.5, p90: 1, p99: 2 }
    const { charts } = statsSeries(statsOf([{ ...FULL[0]!, queue_lag_seconds: lag, failure_ratio: 0.25 }, FULL[1]!]))
    expect(charts.lag.map(({ values }) => values.slice(0, 2))).toEqual([
      [0.5, null],
      [1, null],
      [2, null],
    ])
    expect(charts.failures[0]).toMatchObject({ values: [0.25, null, null, null], whole: 1 / 6 })
  })

  test('an answer about an impossible range has no buckets', () => {
    expect(statsSeries(statsOf([], { to: '2029-01-01T00:00:00.000Z' })).starts).toEqual([])
  })
})

describe('ranges', () => {
  const now = Date.parse('2030-01-08T12:00:00Z')

  test('an unknown name is the last hour', () => {
    expect(rangeNamed('1y').name).toBe('1h')
    expect(rangeNamed(undefined).name).toBe('1h')
    expect(rangeNamed('7d').words).toBe('last 7 days')
  })

  test('only a range that the service does not know by itself names its beginning', () => {
    expect(statsQuery(rangeNamed('1h'), {}, now)).toEqual({ bucket: 'minute' })
    expect(statsQuery(rangeNamed('24h'), { queue: 'gpu' }, now)).toEqual({ bucket: 'hour', queue: 'gpu' })
    expect(statsQuery(rangeNamed('7d'), {}, now)).toEqual({ bucket: 'hour', from: '2030-01-01T12:00:00.000Z' })
  })
})

test('rates are told per second, minute or hour, whichever can be read', () => {
  expect([0, 0.0005, 0.05, 12.345, 4_000].map(formatRate)).toEqual(['0/s', '1.8/h', '3/min', '12.3/s', '4,000/s'])
})

test('ratios are percents', () => {
  expect([0, 0.000001, 0.0345, 1].map(formatRatio)).toEqual(['0 %', '< 0.01 %', '3.45 %', '100 %'])
})
