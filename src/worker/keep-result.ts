/** Turns a result into what settle stores: inline when small, else a blob that is durable before the settle begins. */

import { type BlobStore, BlobStoreFull } from '../blob/blob.ts'
import type { AttemptError } from '../executor/executor.ts'
import { resultHash } from '../run/payload-hash.ts'
import type { Lease, Settlement } from '../store/store.ts'

export type KeepResultOptions = { blob: BlobStore; inlineBytes: number; maxBytes: number }

export type Kept = { ok: true; result: NonNullable<Settlement['result']> } | { ok: false; error: AttemptError }

/** At once when nothing has to be written, which is what short runs live from. */
export function keepResult(
  lease: Lease,
  text: string,
  volatile: readonly string[],
  options: KeepResultOptions,
): Kept | Promise<Kept> {
  const hash = resultHash(text, volatile)
  // A UTF-16 unit is at most three bytes of UTF-8: short texts need no exact count.
  if (text.length * 3 <= options.inlineBytes) return { ok: true, result: { ref: 'inline', hash, text } }
  const bytes = Buffer.from(text)
  if (bytes.byteLength <= options.inlineBytes) return { ok: true, result: { ref: 'inline', hash, text } }
  if (bytes.byteLength > options.maxBytes) {
    const message = `the result has ${bytes.byteLength} bytes; at most ${options.maxBytes} are accepted (HOLDFAST_RESULT_MAX_BYTES)`
    return { ok: false, error: { class: 'ResultTooLarge', message, stack: null, retryable: false } }
  }
  return keepBlob(`${lease.runId}.a${lease.attempt}.json`, bytes, hash, options.blob)
}

async function keepBlob(name: string, bytes: Buffer, hash: string, blob: BlobStore): Promise<Kept> {
  try {
    const { ref } = await blob.put(name, bytes)
    return { ok: true, result: { ref, hash, text: null } }
  } catch (error) {
    const full = error instanceof BlobStoreFull
    const message = `the result could not be stored: ${(error as Error).message}`
    return { ok: false, error: { class: full ? 'ArtifactStoreFull' : 'ArtifactStoreFailed', message, stack: null } }
  }
}
