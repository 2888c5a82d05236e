/**
 * An id made from an idempotency key: each repeat of a request means the same thing by it, and only who knows the key can know it. A UUID
 * of version 8.
 */

import { createHash } from 'node:crypto'

/** `kind` keeps things of different kinds that were asked for with one key apart. */
export function keyedId(kind: string, owner: string, key: string): string {
  const bytes = createHash('sha256').update(`${kind}\0${owner}\0${key}`).digest().subarray(0, 16)
  bytes[6] = 0x80 | (bytes[6]! & 0x0f)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
