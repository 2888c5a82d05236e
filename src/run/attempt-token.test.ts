import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { hashAttemptToken, isAttemptToken, isTicket, newAttemptToken, newTicket } from './attempt-token.ts'

const RANDOM = Buffer.alloc(32, 0xfb)

it('says by its prefix what it is, and carries all of its 32 bytes', () => {
  const { token } = newAttemptToken(RANDOM)
  const { ticket } = newTicket(RANDOM)
  expect(isAttemptToken(token) && !isTicket(token)).toBe(true)
  expect(isTicket(ticket) && !isAttemptToken(ticket)).toBe(true)
  expect(Buffer.from(token.slice(4), 'base64url')).toEqual(RANDOM)
})

it('is hashed as a whole text, so that a job in any language can do it', () => {
  const { token, hash } = newAttemptToken(RANDOM)
  expect(hash).toEqual(createHash('sha256').update(Buffer.from(token, 'utf8')).digest())
  expect(hashAttemptToken(token)).toEqual(hash)
})

it('is not made of fewer bytes than promised', () => {
  expect(() => newTicket(Buffer.alloc(16))).toThrow(RangeError)
})

it.each(['', 'hfa_', `hf_${'a'.repeat(43)}`, `hfa_${'a'.repeat(42)}`, `hfa_${'a'.repeat(43)}\n`])(
  '%j is no token',
  (text) => {
    expect(isAttemptToken(text)).toBe(false)
  },
)
