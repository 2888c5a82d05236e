import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRunIds, isRunId } from './run-id.ts'

test('an id is a UUID of version 7 and begins with the time', () => {
  const id = createRunIds({ nowMs: () => 0x0189_0a0b_0c0d })()
  expect(id).toMatch(/^01890a0b-0c0d-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(isRunId(id)).toBe(true)
})

test('ids rise strictly, within a millisecond and when the clock goes back', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 2, maxLength: 50 }), (steps) => {
      let now = 1_700_000_000_000
      const next = createRunIds({ nowMs: () => now })
      const ids = steps.map((step) => {
        now += step
        return next()
      })
      expect(ids.toSorted()).toEqual(ids)
      expect(new Set(ids).size).toBe(ids.length)
    }),
  )
})

test('more ids in a millisecond than the counter holds still rise', () => {
  const next = createRunIds({ nowMs: () => 1_700_000_000_000 })
  const ids = Array.from({ length: 10_000 }, () => next())
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(10_000)
})

test('two sources do not make equal ids in the same millisecond', () => {
  const sources = Array.from({ length: 20 }, () => createRunIds({ nowMs: () => 1_700_000_000_000 }))
  const ids = sources.flatMap((next) => Array.from({ length: 100 }, () => next()))
  expect(new Set(ids).size).toBe(2_000)
})

test.each(['', 'x', '018e0a0b0c0d7000800000000000000', '{018e0a0b-0c0d-7000-8000-000000000000}', "1' OR '1'='1"])(
  '%j is no run id',
  (text) => {
    expect(isRunId(text)).toBe(false)
  },
)
