/** Blobs in this process's memory: for tests. */

import { BlobMissing, type BlobStore, nameOf, refOf } from './blob.ts'

export function createMemoryBlobStore(): BlobStore {
  const blobs = new Map<string, Uint8Array>()
  const id = crypto.randomUUID()
  return {
    async put(name, bytes) {
      const ref = refOf(name)
      blobs.set(name, Uint8Array.from(bytes))
      return { ref }
    },
    async get(ref) {
      const bytes = blobs.get(nameOf(ref))
      if (!bytes) throw new BlobMissing(ref)
      return Uint8Array.from(bytes)
    },
    async delete(ref) {
      blobs.delete(nameOf(ref))
    },
    identity: async () => id,
  }
}
