import { describe, expect, test } from 'vitest'
import { bucketLabel, heightOf, lonePoints, middles, stackUp, tickLabel } from './chart-series.ts'

describe('stacks', () => {
  test('each series stands on those before it', () => {
    const succeeded = [3, 0, null]
    const failed = [1, 2, null]
    expect(stackUp([succeeded, failed])).toEqual([
      [3, 0, null],
      [4, 2, null],
    ])
  })

  test('a gap in one of them adds nothing', () => {
    expect(stackUp([[null], [2], [null]])).toEqual([[null], [2], [2]])
    expect(stackUp([])).toEqual([])
  })
})

test('a value between gaps needs a point, neighbours are joined by a line', () => {
  expect(lonePoints([1, null, 2, 3, null, 4])).toEqual([0, 5])
  expect(lonePoints([null, null])).toEqual([])
  expect(lonePoints([7])).toEqual([0])
})

test('buckets are drawn in their middle', () => {
  expect(middles(['2030-01-01T00:00:00Z', '2030-01-01T00:01:00Z'], 60)).toEqual([1_893_456_030, 1_893_456_090])
})

test('the height begins at zero and is never nothing', () => {
  expect(heightOf(100)[0]).toBe(0)
  expect(heightOf(100)[1]).toBeGreaterThan(100)
  for (const nothing of [0, null, Number.NaN]) expect(heightOf(nothing)).toEqual([0, 1])
})

describe('labels are told in the zone of the reader', () => {
  const midnightInSydney = Date.parse('2030-01-31T13:00:00Z') / 1_000

  test('the axis says the hour, and at midnight the day', () => {
    expect(tickLabel(midnightInSydney, 'UTC')).toBe('13:00')
    expect(tickLabel(midnightInSydney, 'Australia/Sydney')).toBe('1 Feb')
  })

  test('a bucket says from when to when', () => {
    expect(bucketLabel('2030-01-31T13:05:00Z', 60, 'UTC')).toBe('31 Jan, 13:05 – 13:06')
    expect(bucketLabel('2030-01-31T13:00:00Z', 3_600, 'Australia/Sydney')).toBe('1 Feb, 00:00 – 01:00')
  })
})
