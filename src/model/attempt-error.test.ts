import fc from 'fast-check'
import { expect, test } from 'vitest'
import { attemptErrorFrom } from './attempt-error.ts'
import { cleanText } from './clean-text.ts'
import { Fatal, RetryAfter } from './failure.ts'

class Unnamed extends Error {}

class Hostile extends Error {
  override get message(): string {
    throw new Error('no message for you')
  }
  override get name(): string {
    throw new Error('no name for you')
  }
  override get stack(): string {
    throw new Error('no stack for you')
  }
}

test('an error is known by its name, or by its constructor when it has no name of its own', () => {
  expect(attemptErrorFrom(new TypeError('t')).class).toBe('TypeError')
  expect(attemptErrorFrom(new Unnamed('u'))).toMatchObject({ class: 'Unnamed', message: 'u' })
  expect(attemptErrorFrom(new Error('e')).class).toBe('Error')
  expect(attemptErrorFrom(new DOMException('d', 'AbortError')).class).toBe('AbortError')
})

test('a fatal error and one that names its delay say so', () => {
  expect(attemptErrorFrom(new Fatal('f'))).toMatchObject({ class: 'Fatal', retryable: false })
  expect(attemptErrorFrom(new RetryAfter(30, 'later'))).toMatchObject({ message: 'later', retryAfterSeconds: 30 })
  expect(attemptErrorFrom(new Error('e'))).not.toHaveProperty('retryable')
  expect(() => new RetryAfter(-1)).toThrow(RangeError)
})

test('the stack goes on with the causes, and a circle of them ends', () => {
  const inner = new RangeError('deep')
  const outer = new Error('outer', { cause: inner })
  inner.cause = outer
  expect(attemptErrorFrom(outer).stack).toContain('caused by: RangeError: deep')
})

test.each([
  ['text', 'text'],
  [undefined, 'undefined'],
  [null, 'null'],
  [42n, '42n'],
  [{ code: 7 }, '{ code: 7 }'],
])('throwing %s is told as what it is', (thrown, shown) => {
  const error = attemptErrorFrom(thrown)
  expect(error).toEqual({
    class: 'NotAnError',
    message: `something that is no Error was thrown: ${shown}`,
    stack: null,
  })
})

test('an error whose every getter throws does no harm', () => {
  expect(attemptErrorFrom(new Hostile())).toEqual({ class: 'Hostile', message: '', stack: null })
  const { proxy, revoke } = Proxy.revocable(new Error('gone'), {})
  revoke()
  expect(attemptErrorFrom(proxy)).toMatchObject({ class: 'NotAnError' })
})

test('huge texts are cut', () => {
  const error = attemptErrorFrom(new Error('ü'.repeat(100_000)))
  expect(Buffer.byteLength(error.message)).toBeLessThanOrEqual(8 * 1024 + 16)
  expect(Buffer.byteLength(error.stack ?? '')).toBeLessThanOrEqual(16 * 1024 + 16)
  expect(error.message).toMatch(/\[cut\]$/)
})

test('any text becomes storable, keeps to its limit, and is left alone when it already is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 80 }), (text, bytesMax) => {
      const clean = cleanText(text, bytesMax)
      expect(clean.isWellFormed() && !clean.includes('\0')).toBe(true)
      expect(Buffer.byteLength(clean)).toBeLessThanOrEqual(bytesMax * 3 + 16)
      if (text.isWellFormed() && !text.includes('\0') && Buffer.byteLength(text) <= bytesMax) expect(clean).toBe(text)
    }),
  )
})
