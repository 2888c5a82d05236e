/** Which number literals survive a double, checked against exact arithmetic. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { numberSurvives } from './json-number.ts'

const survives = (literal: string) => numberSurvives(literal, Number(literal))

test.each([
  '9007199254740992',
  '9007199254740994',
  '1180591620717411303424',
  '1e23',
  '99999999999999991611392',
  '5e-324',
  '0e400',
  '1e22',
])('%s survives', (literal) => {
  expect(survives(literal)).toBe(true)
})

test.each([
  '9007199254740993',
  '1e400',
  '-1e400',
  '1e-400',
  '4.9e-324',
  '0.10000000000000001',
  '1180591620717411303425',
  '1e309',
])('%s does not survive', (literal) => {
  expect(survives(literal)).toBe(false)
})

test('property: an integer survives exactly when it is the value of its double or the shortest name of it', () => {
  const integers = fc
    .tuple(fc.bigInt({ min: -(2n ** 55n), max: 2n ** 55n }), fc.constantFrom(1n, 2n, 10n), fc.nat(30))
    .map(([start, base, power]) => start * base ** BigInt(power))
  fc.assert(
    fc.property(integers, (integer) => {
      const value = Number(integer)
      const [mantissa = '', power = '0'] = String(value).split('e')
      const [whole = '', fraction = ''] = mantissa.split('.')
      const shortest = BigInt(whole + fraction) * 10n ** BigInt(Number(power) - fraction.length)
      expect(survives(String(integer))).toBe(BigInt(value) === integer || shortest === integer)
    }),
    { numRuns: 1_000 },
  )
})

test('property: every double survives in every way of writing its shortest form', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(5), (value, zeros) => {
      expect(survives(String(value))).toBe(true)
      expect(survives(value.toExponential().toUpperCase())).toBe(true)
      const [mantissa, power] = value.toExponential().split('e')
      expect(survives(`${mantissa}${mantissa?.includes('.') ? '' : '.'}0${'0'.repeat(zeros)}e${power}`)).toBe(true)
    }),
  )
})

test('a literal of a million digits is judged at once', () => {
  expect(survives(`0.${'1'.repeat(1_000_000)}`)).toBe(false)
})
