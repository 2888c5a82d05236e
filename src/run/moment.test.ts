import { expect, test } from 'vitest'
import { hadEnded, isAtOrAfter, isSameMoment, momentBefore, parseMoment } from './moment.ts'

const moment = parseMoment('10:20:10,13')

test('a moment is read from the text of a snapshot', () => {
  expect(moment).toEqual({ xmin: 10, xmax: 20, xip: [10, 13] })
  expect(parseMoment('7:7:')).toEqual({ xmin: 7, xmax: 7, xip: [] })
  expect(() => parseMoment('7:x:')).toThrow('not a snapshot')
})

test.each([
  [9, true],
  [10, false],
  [12, true],
  [13, false],
  [19, true],
  [20, false],
])('of transaction %i the moment 10:20:10,13 knows whether it had ended: %s', (xid, ended) => {
  expect(hadEnded(moment, xid)).toBe(ended)
})

test.each([
  ['10:20:10,13', true],
  ['13:20:13', true],
  ['20:20:', true],
  ['10:25:10,13,22', true],
  ['10:19:10,13', false],
  ['10:20:10,12,13', false],
  ['5:20:5,10,13', false],
])('%s is at or after 10:20:10,13: %s', (text, later) => {
  expect(isAtOrAfter(parseMoment(text), moment)).toBe(later)
})

test('two readings of one moment are the same', () => {
  expect(isSameMoment(moment, parseMoment('10:20:10,13'))).toBe(true)
  expect(isSameMoment(moment, parseMoment('10:20:10'))).toBe(false)
  expect(isSameMoment(moment, parseMoment('10:21:10,13'))).toBe(false)
})

test('the part before a transaction is never after the whole', () => {
  for (const xid of [5, 10, 12, 20, 30]) expect(isAtOrAfter(moment, momentBefore(xid, moment))).toBe(true)
  expect(hadEnded(momentBefore(12, moment), 12)).toBe(false)
  expect(hadEnded(momentBefore(12, moment), 11)).toBe(true)
})
