/**
 * What the link at the end of a mail carries: whose mail, and which kind of it, signed so that nobody can make one for another address. It
 * has no end of its own: a link in an old mail must still work. Pure; the key is kept in the database.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { MAIL_KINDS, type MailKind } from './fact-kinds.ts'

/** `kind` null for all mail to this address. */
export type Unsubscription = { receiverId: string; kind: MailKind | null }

const ALL = 'all'
const TOKEN = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.([a-z_]{1,20})\.([A-Za-z0-9_-]{43})$/

export function unsubscribeToken(key: string, { receiverId, kind }: Unsubscription): string {
  const told = `${receiverId}.${kind ?? ALL}`
  return `${told}.${signatureOf(key, told)}`
}

/** Null for anything that this key did not sign. */
export function readUnsubscribeToken(key: string, token: string): Unsubscription | null {
  const [, receiverId, kind, signature] = TOKEN.exec(token) ?? []
  if (receiverId === undefined || kind === undefined || signature === undefined) return null
  // The texts are compared, not the bytes they stand for: several texts stand for the same bytes.
  const expected = signatureOf(key, `${receiverId}.${kind}`)
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return null
  if (kind === ALL) return { receiverId, kind: null }
  const known = MAIL_KINDS.find((one) => one === kind)
  return known === undefined ? null : { receiverId, kind: known }
}

function signatureOf(key: string, told: string): string {
  return createHmac('sha256', key).update(`unsubscribe/1 ${told}`).digest('base64url')
}
