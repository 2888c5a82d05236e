import { expect, test } from 'vitest'
import { wantedRange } from './byte-range.ts'

const whole = { size: 10, etag: '"e"' }

test.each([
  [undefined, 'whole'],
  ['bytes=0-3', { start: 0, end: 3 }],
  ['bytes=4-', { start: 4, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-30', { start: 0, end: 9 }],
  ['bytes=8-99', { start: 8, end: 9 }],
  ['Bytes = 0-0', { start: 0, end: 0 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-4', 'whole'],
  ['bytes=0-1,3-4', 'whole'],
  ['bytes=-', 'whole'],
  ['lines=0-1', 'whole'],
  ['bytes=0-99999999999999999999', 'whole'],
])('%j of ten bytes is %j', (header, range) => {
  expect(wantedRange(header, whole)).toEqual(range)
})

test('a range of an empty file cannot be had', () => {
  expect(wantedRange('bytes=0-', { ...whole, size: 0 })).toBe('unsatisfiable')
  expect(wantedRange('bytes=-1', { ...whole, size: 0 })).toBe('unsatisfiable')
})

test('a range that is meant for other bytes is not served', () => {
  expect(wantedRange('bytes=0-1', { ...whole, ifRange: '"e"' })).toEqual({ start: 0, end: 1 })
  expect(wantedRange('bytes=0-1', { ...whole, ifRange: '"other"' })).toBe('whole')
})
