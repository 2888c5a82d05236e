import { expect, test } from 'vitest'
import { changeWords, sizeWords, valueText } from './value-words.ts'

test('small values are shown whole, as JSON', () => {
  expect(valueText('x')).toBe('"x"')
  expect(valueText(null)).toBe('null')
  expect(valueText({ a: [1, { b: true }], c: 'd' })).toBe('{"a": [1, {"b": true}], "c": "d"}')
  expect(valueText(undefined)).toBe('')
})

test('large values are cut without being looked at as a whole', () => {
  const rows = new Array(1_000_000).fill({ id: 1, text: 'x'.repeat(20) })
  const beganMs = performance.now()
  const text = valueText({ rows })
  expect(performance.now() - beganMs).toBeLessThan(50)
  expect(text.length).toBeLessThan(170)
  expect(sizeWords(rows)).toBe('1,000,000 items')
  expect(valueText('y'.repeat(10_000)).length).toBeLessThan(170)
  expect(sizeWords('y'.repeat(10_000))).toBe('10,000 characters')
  expect(sizeWords({ a: 1 })).toBeNull()
})

test.each([
  [100, 112, '+12 (+12 %)'],
  [24, 36, '+12 (+50 %)'],
  [36, 24, '−12 (−33 %)'],
  [0, 5, '+5'],
  [-1, 1, '+2'],
  [1, 1_000, '+999 (×1,000)'],
  [0.05, 0.051, '+0.001 (+2 %)'],
  [1_000_000, 1_000_001, '+1 (less than 0.1 %)'],
  [5, 5, null],
  ['a', 1, null],
])('%j to %j is %j', (a, b, words) => expect(changeWords(a, b)).toBe(words))
