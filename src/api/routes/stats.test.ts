/** Statistics over HTTP. */

import { expect, test } from 'vitest'
import { createTestApi, type TestApi } from '../../../test/support/api.ts'
import { until } from '../../../test/support/until.ts'
import { StatsAnswer } from '../../contract/stats.ts'

const rollAll = ({ store }: TestApi) =>
  until(
    async () => {
      const rolled = await store.stats.roll({ minAgeMs: 0 })
      return rolled.outcome === 'rolled' && !rolled.more
    },
    { what: 'all events are counted', everyMs: 1 },
  )

async function statsOf(api: TestApi, query = ''): Promise<StatsAnswer> {
  const response = await api.get(`/stats${query}`)
  expect(response.statusCode, response.body).toBe(200)
  return StatsAnswer.parse(response.json())
}

/** Three runs: one succeeds, one fails, one waits. */
async function someRuns(api: TestApi): Promise<void> {
  for (const scenario of ['a', 'b', 'c']) await api.create({ parameters: { scenario } })
  await api.settle(await api.claim(), { result: { ref: 'inline', hash: 'f'.repeat(64), text: '{}' } })
  await api.settle(await api.claim(), { kind: 'fail', error: { class: 'E', message: 'm', stack: null } })
  await rollAll(api)
}

test('counts, ratio, percentiles, totals and what waits now', async () => {
  const api = await createTestApi()
  await someRuns(api)
  const stats = await statsOf(api)
  expect(stats.bucket).toBe('minute')
  expect(stats.data.length).toBeGreaterThanOrEqual(60)
  const counts = { created: 3, started: 2, succeeded: 1, failed: 1, cancelled: 0, retried: 0, reclaimed: 0 }
  expect(stats.total).toMatchObject({ ...counts, failure_ratio: 0.5 })
  expect(stats.all_time).toEqual(counts)
  expect(stats.total.throughput_per_second).toBeGreaterThan(0)
  for (const part of ['p50', 'p90', 'p99'] as const) {
    expect(stats.total.queue_lag_seconds[part]).toBeGreaterThan(0)
    expect(stats.total.duration_seconds[part]).toBeLessThan(60)
  }
  expect(stats.now).toMatchObject({ pending: 1, running: 0, pending_capped: false })
  expect(stats.now.oldest_waiting!.seconds).toBeGreaterThanOrEqual(0)
  expect(stats.data.reduce((sum, { created }) => sum + created, 0)).toBe(3)
})

test('hours and days add up to the same, a model or queue asked for is told alone, and an unknown one is empty', async () => {
  const api = await createTestApi()
  await someRuns(api)
  for (const query of [
    '?bucket=hour',
    '?bucket=day',
    '?model=forecast',
    '?queue=default',
    '?model=forecast&queue=default',
  ]) {
    expect((await statsOf(api, query)).total, query).toMatchObject({ created: 3, succeeded: 1, failed: 1 })
  }
  const nothing = await statsOf(api, '?model=other')
  expect(nothing.total).toMatchObject({ created: 0, failure_ratio: null, duration_seconds: { p50: null } })
  expect(nothing.now).toMatchObject({ pending: 0, oldest_waiting: null })
})

test('every bucket of the range is there, from whole bucket to whole bucket', async () => {
  const api = await createTestApi()
  const { from, to, data } = await statsOf(api, '?bucket=day&from=2026-01-30T08:30:00Z&to=2026-02-01T01:00:00%2B02:00')
  expect([from, to]).toEqual(['2026-01-30T00:00:00.000Z', '2026-02-01T00:00:00.000Z'])
  expect(data.map(({ at }) => at.slice(0, 10))).toEqual(['2026-01-30', '2026-01-31'])
})

test.each([
  ['?from=yesterday', 'from'],
  ['?bucket=week', 'bucket'],
  ['?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
  ['?bucket=day&from=1990-01-01T00:00:00Z', 'bucket'],
  ['?bucket=minute&from=2020-01-01T00:00:00Z&to=2020-01-01T01:00:00Z', 'from'],
  ['?bucket=day&from=9998-12-31T00:00:00Z&to=9999-12-31T00:00:00Z', 'to'],
  ['?nodel=x', 'nodel'],
])('%s is refused', async (query, name) => {
  const api = await createTestApi()
  const response = await api.get(`/stats${query}`)
  expect([response.statusCode, response.json().code]).toEqual([400, 'invalid-query'])
  expect(response.json().detail).toContain(name)
})
