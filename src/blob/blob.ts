/**
 * The port for bytes too large for a row: files, results, outputs of steps, logs.
 *
 * A blob is written whole or not at all, is never changed, and is found by the reference that `put` returns. Nothing
 * in a blob is visible to anyone before the transaction that stores its reference has committed. A reference is
 * `artifacts/<name>` wherever the bytes lie: the place is configuration, the reference is a name in it. Bytes that are read against what
 * is known of them are never delivered as whole when they are not.
 */

import type { Readable } from 'node:stream'

export interface BlobStore {
  /**
   * Writes durably (synced) before it resolves. Writing the same name again replaces the bytes atomically. Rejects
   * with a BlobStoreFull when there is no room, with a BlobNameRefused for a name that is no plain file name, and with what the source of
   * the bytes broke with. Bytes that come piece by piece are never in memory together.
   */
  put(name: string, bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<StoredBlob>
  /** Rejects with a BlobMissing when the reference leads nowhere, and with a BlobDamaged when the bytes are not as expected. */
  get(ref: string, expect?: BlobFacts): Promise<Uint8Array>
  /**
   * The same for bytes of any size: `size` is all of them, `stream` brings them, or the range, piece by piece. A stream that is not read
   * to its end must be destroyed. Bytes that are replaced meanwhile are read to their end as they were. When the size is not as expected it
   * rejects; when the digest is not, the stream breaks with a BlobDamaged before its last piece (a range is not checked so).
   */
  open(ref: string, options?: OpenOptions): Promise<OpenBlob>
  /** Null when there are none. */
  stat(ref: string): Promise<BlobStat | null>
  /** Deleting what is not there is no error. */
  delete(ref: string): Promise<void>
  /** All blobs, in no order. Those that come or go meanwhile may be among them or not. */
  list(): AsyncIterable<ListedBlob>
  /** Removes what puts left behind that never came to their end, once nothing was added for that long; answers how many. */
  removeUnfinished(olderThanMs: number): Promise<number>
  /** A random id of this store's place, created on first use; lets a database refuse a process that looks elsewhere. */
  identity(): Promise<string>
}

/** `sha256` in hex. */
export type BlobFacts = { bytes: number; sha256: string }
export type StoredBlob = BlobFacts & { ref: string }
export type BlobStat = { bytes: number; modifiedAt: Date }
export type ListedBlob = BlobStat & { name: string }

/** Both ends count, from 0. An end beyond the last byte means the last byte; a start beyond it is refused. */
export type ByteRange = { start: number; end: number }
export type OpenOptions = { range?: ByteRange; expect?: BlobFacts }
export type OpenBlob = { size: number; stream: Readable }

export class BlobMissing extends Error {
  readonly ref: string
  constructor(ref: string, options?: ErrorOptions) {
    super(`the stored bytes ${ref} are missing`, options)
    this.name = 'BlobMissing'
    this.ref = ref
  }
}

/** The bytes are there, and are not those that were stored. */
export class BlobDamaged extends Error {
  readonly ref: string
  constructor(ref: string, difference: string, options?: ErrorOptions) {
    super(`the stored bytes ${ref} are damaged: ${difference}`, options)
    this.name = 'BlobDamaged'
    this.ref = ref
  }
}

export class BlobStoreFull extends Error {
  readonly code = 'artifact-store-full'
  constructor(name: string, options?: ErrorOptions) {
    super(`there is no room left to store ${name}`, options)
    this.name = 'BlobStoreFull'
  }
}

/** The store does not answer, or answers that it cannot just now. What was asked may be asked again later. */
export class BlobStoreUnavailable extends Error {
  readonly code = 'artifact-store-unavailable'
  constructor(reason: string, options?: ErrorOptions) {
    super(`the store of large values is not available: ${reason}`, options)
    this.name = 'BlobStoreUnavailable'
  }
}

export class BlobRangeRefused extends Error {
  constructor(ref: string, { start, end }: ByteRange, options?: ErrorOptions) {
    super(`the stored bytes ${ref} have no range from ${start} to ${end}`, options)
    this.name = 'BlobRangeRefused'
  }
}

export class BlobNameRefused extends Error {
  constructor(text: string) {
    super(
      `${JSON.stringify(text)} does not name a blob; use letters, digits, ".", "_" and "-", a letter or digit first`,
    )
    this.name = 'BlobNameRefused'
  }
}

const REF_PREFIX = 'artifacts/'
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/

export function refOf(name: string): string {
  if (!NAME.test(name)) throw new BlobNameRefused(name)
  return REF_PREFIX + name
}

/** The only way from a reference to a file name, so no reference can lead out of the folder. */
export function nameOf(ref: string): string {
  const name = ref.slice(REF_PREFIX.length)
  if (!ref.startsWith(REF_PREFIX) || !NAME.test(name)) throw new BlobNameRefused(ref)
  return name
}

/** Whether something that lies in the place is one of ours. */
export function isBlobName(name: string): boolean {
  return NAME.test(name)
}
