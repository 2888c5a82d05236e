/** Names one call, so that it can be sent again without being done again. */

const PRINTABLE = /^[\x20-\x7e]{1,255}$/

/** 128 random bits. Not `randomUUID`, which pages without TLS do not have. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `client-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** The caller's own key, checked before anything is sent. */
export function checkedKey(key: string): string {
  if (PRINTABLE.test(key)) return key
  throw new TypeError('an idempotency key has 1 to 255 printable ASCII characters')
}

/** As a quoted string (RFC 8941), in which blanks and quotes at the ends survive the way. */
export function keyHeader(key: string): Record<string, string> {
  return { 'Idempotency-Key': `"${key.replace(/["\\]/g, '\\$&')}"` }
}
