import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { base62, hashOf, isSession, isToken, makeSession, makeToken } from './token-text.ts'

test('a token and a session each have their own look, and never the same text twice', () => {
  const made = Array.from({ length: 100 }, () => [makeToken(), makeSession()]).flat()
  expect(new Set(made).size).toBe(200)
  for (const text of made) expect([isToken(text), isSession(text)]).toEqual([/^hf_/.test(text), /^hfs_/.test(text)])
})

test('every 32 bytes become 43 digits that stand for them', () => {
  const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const back = (text: string) => [...text].reduce((value, digit) => value * 62n + BigInt(DIGITS.indexOf(digit)), 0n)
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const text = base62(Buffer.from(bytes))
      expect(text).toMatch(/^[0-9A-Za-z]{43}$/)
      expect(back(text)).toBe(BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
    }),
  )
})

test.each([
  '',
  'hf_',
  `hf_${'a'.repeat(42)}`,
  `hf_${'a'.repeat(44)}`,
  `hf_${'a'.repeat(42)}-`,
  ` hf_${'a'.repeat(43)}`,
])('%j is no token', (text) => expect(isToken(text)).toBe(false))

test('the hash is SHA-256 of the whole text', () => {
  expect(hashOf('hf_x')).toBe(createHash('sha256').update('hf_x').digest('hex'))
})
