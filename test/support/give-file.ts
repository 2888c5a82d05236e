/** Gives an owner a file, as an upload would; answers its id. */

import { randomUUID } from 'node:crypto'
import type { BlobStore } from '../../src/blob/blob.ts'
import { Refusal } from '../../src/run/errors.ts'
import type { Store } from '../../src/store/store.ts'

export type GivenFile = { bytes?: string | Uint8Array; name?: string; owner?: string; type?: string }

export async function giveFile(
  { store, blob }: { store: Pick<Store, 'files'>; blob: BlobStore },
  { bytes = 'some text', name = 'notes.txt', owner = 'default', type = 'text/plain' }: GivenFile = {},
): Promise<string> {
  const id = randomUUID()
  const stored = await blob.put(`${id}.file`, typeof bytes === 'string' ? Buffer.from(bytes) : bytes)
  const file = { id: stored.sha256, bytes: stored.bytes, type, ref: stored.ref }
  const accepted = await store.files.accept({ id, owner, key: null, file, name, batchId: null, run: null })
  if (accepted instanceof Refusal) throw accepted
  return stored.sha256
}
