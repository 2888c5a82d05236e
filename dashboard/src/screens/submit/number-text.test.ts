import { expect, test } from 'vitest'
import { numberText, readNumber } from './number-text.ts'

test.each([
  ['', undefined],
  [' ', undefined],
  ['24', 24],
  ['-1.5', -1.5],
  ['1.50', 1.5],
  ['1.', 1],
  ['.5', 0.5],
  ['1e3', 1_000],
  ['-', '-'],
  ['1e', '1e'],
  ['two', 'two'],
  ['0x10', '0x10'],
  ['1e999', '1e999'],
  ['12345678901234567891', '12345678901234567891'],
])('%j is read as %j', (text, value) => expect(readNumber(text)).toBe(value))

test('what was typed stays as long as it means the value', () => {
  expect(numberText(1.5, '1.50')).toBe('1.50')
  expect(numberText(2, '1.50')).toBe('2')
  expect(numberText(undefined, '7')).toBe('')
  expect(numberText('1e', '')).toBe('1e')
  expect(numberText([1], '')).toBe('[1]')
})
