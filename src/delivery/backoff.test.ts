import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs, DELIVERY_DELAYS_SECONDS, parseRetryAfter, RETRY_AFTER_MS_MAX } from './backoff.ts'

const HALF = 0.5
const NOW_MS = Date.parse('2026-03-01T12:00:00Z')

describe('the wait after a failed delivery', () => {
  it('grows from seconds to a day, and then there is none', () => {
    const waits = Array.from({ length: 10 }, (_, tries) => backoffMs({ tries }, HALF))
    expect(waits).toEqual([...DELIVERY_DELAYS_SECONDS.map((seconds) => seconds * 1_000), null])
  })

  it('spans more than three days in all', () => {
    expect(DELIVERY_DELAYS_SECONDS.reduce((sum, seconds) => sum + seconds, 0)).toBeGreaterThan(3 * 86_400)
  })

  it('is spread by a fifth to both sides', () => {
    expect(backoffMs({ tries: 0 }, 0)).toBe(4_000)
    expect(backoffMs({ tries: 0 }, 0.999_999)).toBe(6_000)
  })

  it('is as long as the receiver asks when that is longer', () => {
    expect(backoffMs({ tries: 0, retryAfterMs: 60_000 }, HALF)).toBe(60_000)
    expect(backoffMs({ tries: 1, retryAfterMs: 60_000 }, HALF)).toBe(300_000)
  })

  it('is never longer than a day because a receiver asks for it', () => {
    expect(backoffMs({ tries: 0, retryAfterMs: 1e15 }, HALF)).toBe(RETRY_AFTER_MS_MAX)
  })

  it('is not prolonged past the last try by what the receiver asks', () => {
    expect(backoffMs({ tries: 9, retryAfterMs: 60_000 }, HALF)).toBeNull()
  })

  it('follows a list of the operator', () => {
    expect([0, 1, 2].map((tries) => backoffMs({ tries }, HALF, [1, 2]))).toEqual([1_000, 2_000, null])
  })

  it('is a whole number within a fifth of its list or what was asked, whatever comes in', () => {
    const failure = fc.record({
      tries: fc.integer({ min: 0, max: 8 }),
      retryAfterMs: fc.option(fc.double(), { nil: undefined }),
    })
    fc.assert(
      fc.property(failure, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (one, random) => {
        const waitMs = backoffMs(one, random)!
        expect(Number.isSafeInteger(waitMs)).toBe(true)
        expect(waitMs).toBeGreaterThanOrEqual(DELIVERY_DELAYS_SECONDS[one.tries]! * 800)
        expect(waitMs).toBeLessThanOrEqual(Math.max(DELIVERY_DELAYS_SECONDS[one.tries]! * 1_200, RETRY_AFTER_MS_MAX))
      }),
    )
  })
})

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['99999999', RETRY_AFTER_MS_MAX],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['Sun, 01 Mar 2099 11:00:00 GMT', RETRY_AFTER_MS_MAX],
    ['', undefined],
    [undefined, undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['tomorrow, please', undefined],
  ])('%j is %j', (text, expected) => {
    expect(parseRetryAfter(text, NOW_MS)).toBe(expected)
  })
})
