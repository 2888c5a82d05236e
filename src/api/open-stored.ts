/**
 * Stored bytes for an answer, checked against what is on record: small ones before their first byte is sent, of large ones that are damaged
 * the last piece is never sent.
 */

import { BlobDamaged, BlobMissing, type BlobStore, type OpenBlob } from '../blob/blob.ts'
import type { Refusal } from '../run/errors.ts'

const SMALL_BYTES_MAX = 65_536

export async function openStored(
  blob: BlobStore,
  { ref, bytes, sha256 }: { ref: string; bytes: number; sha256: string },
  gone: (cause: unknown) => Refusal,
): Promise<Buffer | OpenBlob> {
  const expect = { bytes, sha256 }
  try {
    return bytes <= SMALL_BYTES_MAX ? Buffer.from(await blob.get(ref, expect)) : await blob.open(ref, { expect })
  } catch (error) {
    throw isGone(error) ? gone(error) : error
  }
}

/** Whether the bytes are not, or not all, what was stored. */
export function isGone(error: unknown): boolean {
  return error instanceof BlobMissing || error instanceof BlobDamaged
}
