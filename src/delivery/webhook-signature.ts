/** Signatures of Standard Webhooks 1.0.0: HMAC-SHA256 over id, time and the very bytes of the body. */

import { createHmac } from 'node:crypto'

export type SignedMessage = { id: string; timestamp: number; body: Buffer }

const PREFIX = 'whsec_'

/** One signature for each secret, so that a receiver may verify with any of them while they change. */
export function signatureHeader(message: SignedMessage, secrets: readonly string[]): string {
  return secrets.map((secret) => `v1,${signature(message, secret)}`).join(' ')
}

function signature({ id, timestamp, body }: SignedMessage, secret: string): string {
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64')
  if (key.length === 0) throw new Error('a webhook has no secret')
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
}
