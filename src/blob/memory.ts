/** Blobs in this process's memory: for tests. */

import { Readable } from 'node:stream'
import { BlobMissing, type BlobStore, nameOf, refOf } from './blob.ts'

export function createMemoryBlobStore(): BlobStore {
  const blobs = new Map<string, Uint8Array>()
  const id = crypto.randomUUID()
  return {
    async put(name, bytes) {
      const ref = refOf(name)
      blobs.set(name, bytes instanceof Uint8Array ? Uint8Array.from(bytes) : await joined(bytes))
      return { ref }
    },
    async get(ref) {
      const bytes = blobs.get(nameOf(ref))
      if (!bytes) throw new BlobMissing(ref)
      return Uint8Array.from(bytes)
    },
    async open(ref) {
      const bytes = blobs.get(nameOf(ref))
      if (!bytes) throw new BlobMissing(ref)
      return { size: bytes.length, stream: Readable.from(bytes.length > 0 ? [Buffer.from(bytes)] : []) }
    },
    async delete(ref) {
      blobs.delete(nameOf(ref))
    },
    async *names() {
      yield* [...blobs.keys()]
    },
    identity: async () => id,
  }
}

async function joined(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}
