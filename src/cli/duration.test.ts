import { expect, test } from 'vitest'
import { parseDuration } from './duration.ts'

test.each([
  ['90s', 90],
  ['15m', 900],
  ['12h', 43_200],
  ['30d', 2_592_000],
  ['2w', 1_209_600],
  [' 1y ', 31_536_000],
])('%s is %i seconds', (text, seconds) => expect(parseDuration(text)).toBe(seconds))

test.each(['', '30', 'd', '-1d', '1.5h', '30 d', '1M', '1d2h', '99999999999d'])('%j is none', (text) => {
  expect(() => parseDuration(text)).toThrow('is not a length of time')
})
