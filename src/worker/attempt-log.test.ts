import { expect, test } from 'vitest'
import { fakeLease } from '../../test/support/fake-lease.ts'
import { AttemptLog } from './attempt-log.ts'

const logOf = (hidden: string[] = [], bytesMax = 1_000) => new AttemptLog(fakeLease(), () => hidden, bytesMax)
const texts = (log: AttemptLog, isLast = false) => log.take(isLast).map(({ stream, text }) => `${stream}: ${text}`)

test('what one stream prints in a row is one piece; the order of the streams stays', () => {
  const log = logOf()
  log.add('stdout', 'a')
  log.add('stdout', 'b')
  log.add('stderr', 'c')
  log.add('stdout', 'd')
  expect(texts(log)).toEqual(['stdout: ab', 'stderr: c', 'stdout: d'])
  expect(log.isEmpty).toBe(true)
})

test('the piece that crosses the limit is the last one', () => {
  const log = logOf([], 3)
  log.add('stdout', 'ab')
  log.add('stdout', 'cdefgh')
  log.add('stdout', 'never')
  expect(texts(log)).toEqual(['stdout: abcd'])
  log.add('stdout', 'never')
  expect(log.isEmpty).toBe(true)
})

test('a closed log keeps nothing', () => {
  const log = logOf()
  log.add('stdout', 'before')
  log.close()
  log.add('stdout', 'after')
  expect(texts(log)).toEqual([])
})

test('hidden texts are taken out, also when they come in parts', () => {
  const log = logOf(['s3cret-value'])
  log.add('stdout', 'it is s3cret-value and s3cr')
  expect(texts(log)).toEqual(['stdout: it is [redacted] and '])
  expect(log.isEmpty).toBe(false)
  log.add('stdout', 'et-va')
  expect(texts(log)).toEqual([])
  log.add('stdout', 'lue, twice')
  expect(texts(log)).toEqual(['stdout: [redacted], twice'])
})

test('in parts with another stream in between', () => {
  const log = logOf(['s3cret'])
  log.add('stdout', 'a s3')
  log.add('stderr', 'x')
  log.add('stdout', 'cret b')
  expect(texts(log)).toEqual(['stdout: a ', 'stderr: x', 'stdout: [redacted] b'])
})

test('a beginning of which nothing came is written at the end', () => {
  const log = logOf(['s3cret'])
  log.add('stdout', 'a s3')
  expect(texts(log)).toEqual(['stdout: a '])
  expect(texts(log, true)).toEqual(['stdout: s3'])
})

test('a hidden text whose end looks like its beginning is taken out whole', () => {
  const log = logOf(['abcab'])
  log.add('stdout', 'xabcab')
  expect(texts(log, true)).toEqual(['stdout: x[redacted]'])
})
