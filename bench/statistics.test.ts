import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { median, percentile, ratios, spread } from './statistics.ts'

const numbers = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 })

describe('statistics', () => {
  test('the median of an odd count is the middle value, of an even one the mean of the middle two', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([4, 1, 2, 3])).toBe(2.5)
  })

  test('percentiles lie between neighbours and never leave the values', () => {
    expect(percentile([10, 20, 30, 40, 50], 99)).toBeCloseTo(49.6)
    fc.assert(
      fc.property(numbers, fc.double({ min: 0, max: 100, noNaN: true }), (values, percent) => {
        const value = percentile(values, percent)
        expect(value).toBeGreaterThanOrEqual(Math.min(...values))
        expect(value).toBeLessThanOrEqual(Math.max(...values))
      }),
    )
  })

  test('the order of the values does not matter', () => {
    fc.assert(
      fc.property(numbers, (values) => {
        expect(spread(values.toReversed())).toEqual(spread(values))
      }),
    )
  })

  test('ratios pair the values of one round', () => {
    expect(ratios([10, 30], [5, 10])).toEqual([2, 3])
    expect(() => ratios([1], [1, 2])).toThrow('do not match')
  })

  test('nothing has no median', () => {
    expect(() => median([])).toThrow('no values')
  })
})
