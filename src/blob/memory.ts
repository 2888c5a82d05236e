/** Blobs in this process's memory: for tests. */

import { Readable } from 'node:stream'
import { BlobMissing, type BlobStore, nameOf, refOf } from './blob.ts'
import { assertSize, assertWhole, factsOf, rangeWithin, verified } from './digest.ts'

type Kept = { bytes: Uint8Array; modifiedAt: Date }

export function createMemoryBlobStore({ now = () => new Date() }: { now?: () => Date } = {}): BlobStore {
  const blobs = new Map<string, Kept>()
  const id = crypto.randomUUID()

  function find(ref: string): Uint8Array {
    const kept = blobs.get(nameOf(ref))
    if (!kept) throw new BlobMissing(ref)
    return kept.bytes
  }

  return {
    async put(name, bytes) {
      const ref = refOf(name)
      const whole = bytes instanceof Uint8Array ? Uint8Array.from(bytes) : await joined(bytes)
      blobs.set(name, { bytes: whole, modifiedAt: now() })
      return { ref, ...factsOf(whole) }
    },
    async get(ref, expect) {
      const bytes = Uint8Array.from(find(ref))
      if (expect) assertWhole(ref, factsOf(bytes), expect)
      return bytes
    },
    async open(ref, { range, expect } = {}) {
      const bytes = find(ref)
      assertSize(ref, bytes.length, expect)
      const { start, end } = range ? rangeWithin(ref, bytes.length, range) : { start: 0, end: bytes.length - 1 }
      const wanted = bytes.subarray(start, end + 1)
      const stream = Readable.from(wanted.length > 0 ? [Buffer.from(wanted)] : [], { objectMode: false })
      return { size: bytes.length, stream: verified(ref, stream, range ? undefined : expect) }
    },
    async stat(ref) {
      const kept = blobs.get(nameOf(ref))
      return kept ? { bytes: kept.bytes.length, modifiedAt: kept.modifiedAt } : null
    },
    async delete(ref) {
      blobs.delete(nameOf(ref))
    },
    async *list() {
      for (const [name, { bytes, modifiedAt }] of [...blobs]) yield { name, bytes: bytes.length, modifiedAt }
    },
    removeUnfinished: async () => 0,
    identity: async () => id,
  }
}

async function joined(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}
