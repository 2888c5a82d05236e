/**
 * The `Range` header of a request for bytes (RFC 9110, section 14). One range is served; a header with several, or one that cannot be read, is
 * ignored, as the standard allows, and the whole is sent.
 */

import type { ByteRange } from '../blob/blob.ts'

export type WantedRange = ByteRange | 'whole' | 'unsatisfiable'

/** `ifRange` is the header of that name: the range is meant only for the very bytes whose tag it names. */
export function wantedRange(
  header: string | undefined,
  { size, etag, ifRange }: { size: number; etag: string; ifRange?: string | undefined },
): WantedRange {
  if (header === undefined || (ifRange !== undefined && ifRange.trim() !== etag)) return 'whole'
  const [, first, last] = /^bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i.exec(header) ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole'
  if (first === '') return lastBytes(Number(last), size)
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return 'whole'
  return start < size ? { start, end } : 'unsatisfiable'
}

function lastBytes(count: number, size: number): WantedRange {
  if (count === 0 || size === 0) return 'unsatisfiable'
  return { start: Math.max(0, size - count), end: size - 1 }
}
