/**
 * The port for bytes too large for a row: results today, files and logs later.
 *
 * A blob is written whole or not at all, is never changed, and is found by the reference that `put` returns. Nothing
 * in a blob is visible to anyone before the transaction that stores its reference has committed. A reference is
 * `artifacts/<name>` wherever the bytes lie: the place is configuration, the reference is a name in it.
 */

import type { Readable } from 'node:stream'

export interface BlobStore {
  /**
   * Writes durably (synced) before it resolves. Writing the same name again replaces the bytes atomically. Rejects
   * with a BlobStoreFull when there is no room, and with a BlobNameRefused for a name that is no plain file name. Bytes that
   * come piece by piece are never in memory together.
   */
  put(name: string, bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ ref: string }>
  /** Rejects with a BlobMissing when the reference leads nowhere. */
  get(ref: string): Promise<Uint8Array>
  /**
   * The same for bytes of any size: `size` is all of them, `stream` brings them piece by piece. A stream that is not read to its end
   * must be destroyed. Bytes that are replaced meanwhile are read to their end as they were.
   */
  open(ref: string): Promise<OpenBlob>
  /** Deleting what is not there is no error. */
  delete(ref: string): Promise<void>
  /** The names of all blobs, in no order. Those that come or go meanwhile may be among them or not. */
  names(): AsyncIterable<string>
  /** A random id of this store's place, created on first use; lets a database refuse a process that looks elsewhere. */
  identity(): Promise<string>
}

export type OpenBlob = { size: number; stream: Readable }

export class BlobMissing extends Error {
  readonly ref: string
  constructor(ref: string, options?: ErrorOptions) {
    super(`the stored bytes ${ref} are missing`, options)
    this.name = 'BlobMissing'
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
