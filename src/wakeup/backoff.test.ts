import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BACKOFF_CAP_MS, backoffMs } from './backoff.ts'

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

it('a wait is never zero and never above the cap', () => {
  fc.assert(
    fc.property(fc.nat(), random, (failures, drawn) => {
      const waitMs = backoffMs(failures, drawn)
      expect(waitMs).toBeGreaterThan(0)
      expect(waitMs).toBeLessThanOrEqual(BACKOFF_CAP_MS)
    }),
  )
})

it('more failures never wait less, for the same luck', () => {
  fc.assert(
    fc.property(fc.nat(100), random, (failures, drawn) => {
      expect(backoffMs(failures + 1, drawn)).toBeGreaterThanOrEqual(backoffMs(failures, drawn))
    }),
  )
})

it('the first wait is short', () => {
  expect(backoffMs(0, 0)).toBe(50)
})
