import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addHistograms, BIN_MAX, binOf, type Histogram, percentile, secondsOf } from './histogram.ts'

function histogramOf(values: number[]): Histogram {
  return addHistograms(values.map((seconds) => ({ [binOf(seconds)]: 1 })))
}

describe('histograms of durations', () => {
  it('a bin stands for a value within 5 % of those in it', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 3_000_000, noNaN: true }), (seconds) => {
        expect(secondsOf(binOf(seconds)) / seconds).toBeGreaterThan(0.95)
        expect(secondsOf(binOf(seconds)) / seconds).toBeLessThan(1.05)
      }),
    )
  })

  it('what is too short or too long falls into the outermost bins', () => {
    expect(binOf(0)).toBe(0)
    expect(binOf(-1)).toBe(0)
    expect(binOf(1e12)).toBe(BIN_MAX)
  })

  it('a percentile is within 5 % of the true one, however the values were split up before', () => {
    const seconds = fc.double({ min: 0.001, max: 100_000, noNaN: true })
    const values = fc.array(seconds, { minLength: 1, maxLength: 50 })
    fc.assert(
      fc.property(values, values, fc.constantFrom(0.5, 0.9, 0.99), (one, other, part) => {
        const sorted = [...one, ...other].sort((a, b) => a - b)
        const exact = sorted[Math.max(1, Math.ceil(part * sorted.length)) - 1]!
        const found = percentile(addHistograms([histogramOf(one), histogramOf(other)]), part)!
        expect(found / exact).toBeGreaterThan(0.95)
        expect(found / exact).toBeLessThan(1.05)
      }),
    )
  })

  it('there is none of nothing', () => {
    expect(percentile({}, 0.5)).toBeNull()
  })
})
