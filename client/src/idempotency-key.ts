/** Names one call, so that it can be sent again without being done again. */

const PRINTABLE = /^[\x20-\x7e]{1,255}$/

/** 128 random bits. Not `randomUUID`, which pages without TLS do not have. */
export function newKey(): string {
  return `client-${hexOf(crypto.getRandomValues(new Uint8Array(16)))}`
}

/** For what is named by a UUID instead; version 4. */
export function newUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return hexOf(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
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
