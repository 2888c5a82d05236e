import { expect, it } from 'vitest'
import { bytesPerSecond, type Sample, secondsLeft, withSample } from './transfer-rate.ts'

const after = (...samples: [atMs: number, bytes: number][]) =>
  samples.reduce<Sample[]>((sum, [atMs, bytes]) => withSample(sum, { atMs, bytes }), [])

it('the pace is that of the last seconds', () => {
  expect(bytesPerSecond(after([0, 0], [2_000, 1_000]))).toBe(500)
  expect(bytesPerSecond(after([0, 0], [20_000, 1_000], [22_000, 5_000]))).toBe(2_000)
  expect(secondsLeft(after([0, 0], [2_000, 1_000]), 4_000)).toBe(8)
})

it('too little is known at the beginning, when nothing moves, and when it began anew', () => {
  expect(bytesPerSecond([])).toBeNull()
  expect(bytesPerSecond(after([0, 0], [500, 1_000]))).toBeNull()
  expect(secondsLeft(after([0, 7], [3_000, 7]), 10)).toBeNull()
  expect(after([0, 900], [1_000, 100])).toEqual([{ atMs: 1_000, bytes: 100 }])
})
