import { expect, test } from 'vitest'
import { createPace } from './fair-pace.ts'

test('owners are served two at a time at first, and more by a worker that takes thousands of runs a second', () => {
  let nowMs = 0
  const pace = createPace(() => nowMs)
  expect(pace.atOnce()).toBe(2)
  pace.took(2_600)
  expect(pace.atOnce()).toBe(5)
  pace.took(50_000)
  expect(pace.atOnce()).toBe(16)
  nowMs = 1_000
  expect(pace.atOnce()).toBe(16)
  nowMs = 2_000
  expect(pace.atOnce()).toBe(2)
})

test('a worker whose runs are long serves two at a time, whatever it took at its start', () => {
  let nowMs = 0
  const pace = createPace(() => nowMs)
  pace.took(8_000)
  nowMs = 60_000
  expect(pace.atOnce()).toBe(2)
})
