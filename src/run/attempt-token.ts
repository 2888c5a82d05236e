/**
 * How code that runs elsewhere proves which attempt it is. An attempt token is for the routes under /leases; a ticket
 * is what an engine's job is started with, good for trading it once for a token of the job's own making. Of both, only
 * the SHA-256 is stored. The texts carry 32 random bytes, so a plain hash cannot be searched for the text behind it.
 * The bytes come in from outside: `newTicket(randomBytes(SECRET_BYTES))`.
 */

import { createHash } from 'node:crypto'

export const SECRET_BYTES = 32

/** 43 characters of base 64 for URLs hold 32 bytes; texts in base 62 have the same length. */
const ATTEMPT_TOKEN = /^hfa_[0-9A-Za-z_-]{43}$/
const TICKET = /^hft_[0-9A-Za-z_-]{43}$/

export function newAttemptToken(random: Uint8Array): { token: string; hash: Buffer } {
  const token = `hfa_${secretText(random)}`
  return { token, hash: hashAttemptToken(token) }
}

export function newTicket(random: Uint8Array): { ticket: string; hash: Buffer } {
  const ticket = `hft_${secretText(random)}`
  return { ticket, hash: hashTicket(ticket) }
}

export function isAttemptToken(text: string): boolean {
  return ATTEMPT_TOKEN.test(text)
}

export function isTicket(text: string): boolean {
  return TICKET.test(text)
}

/** Of the whole text, prefix and all, in UTF-8. */
export function hashAttemptToken(token: string): Buffer {
  return sha256(token)
}

export function hashTicket(ticket: string): Buffer {
  return sha256(ticket)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function secretText(random: Uint8Array): string {
  if (random.length !== SECRET_BYTES) throw new RangeError(`A secret is made of ${SECRET_BYTES} random bytes.`)
  return Buffer.from(random).toString('base64url')
}
