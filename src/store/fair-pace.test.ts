import { expect, test } from 'vitest'
import { createPace } from './fair-pace.ts'

function paceAt() {
  const clock = { nowMs: 0 }
  return { clock, pace: createPace(() => clock.nowMs) }
}

test('owners are served two at a time at first, and more by a worker that takes thousands of runs a second', () => {
  const { clock, pace } = paceAt()
  expect(pace.atOnce()).toBe(2)
  pace.took(2_600)
  expect(pace.atOnce()).toBe(5)
  pace.took(50_000)
  expect(pace.atOnce()).toBe(16)
  clock.nowMs = 1_000
  expect(pace.atOnce()).toBe(16)
  clock.nowMs = 2_000
  expect(pace.atOnce()).toBe(2)
})

test('a worker whose runs are long serves two at a time, whatever it took at its start', () => {
  const { clock, pace } = paceAt()
  pace.took(8_000)
  clock.nowMs = 60_000
  expect(pace.atOnce()).toBe(2)
})

test('owners who have few runs are served no more than they had, and more again once they have', () => {
  const { pace } = paceAt()
  pace.took(50_000)
  pace.got(400, 100, false)
  expect(pace.atOnce()).toBe(4)
  pace.got(0, 0, false)
  expect(pace.atOnce()).toBe(4)
  pace.got(70, 100, false)
  expect(pace.atOnce()).toBe(1)
  for (const expected of [2, 3, 4]) {
    pace.got(1_000, 250, true)
    expect(pace.atOnce()).toBe(expected)
  }
})
