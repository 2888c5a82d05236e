/**
 * The text of tokens and sessions: a prefix that says which of the two it is, and 32 random bytes in base 62. Both are stored and looked
 * up by their SHA-256 only. The bytes are random, so a plain hash cannot be searched for the text behind it.
 */

import { hash, randomBytes } from 'node:crypto'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BYTES = 32
/** 62 ** 43 is the first power that 32 bytes cannot exceed. */
const LENGTH = 43
const TOKEN = new RegExp(`^hf_[0-9A-Za-z]{${LENGTH}}$`)
const SESSION = new RegExp(`^hfs_[0-9A-Za-z]{${LENGTH}}$`)

export function makeToken(): string {
  return `hf_${base62(randomBytes(BYTES))}`
}

export function makeSession(): string {
  return `hfs_${base62(randomBytes(BYTES))}`
}

export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

export function isSession(text: string): boolean {
  return SESSION.test(text)
}

/** SHA-256 as 64 hex digits. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'hex')
}

/** Always of the same length. */
export function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let place = 0; place < LENGTH; place += 1) {
    text = DIGITS[Number(rest % 62n)] + text
    rest /= 62n
  }
  return text
}
