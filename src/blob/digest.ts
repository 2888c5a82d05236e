/** The SHA-256 and size of bytes on their way into a store, and the check of those that come out of it. */

import { createHash, type Hash } from 'node:crypto'
import { pipeline, type Readable, Transform } from 'node:stream'
import { BlobDamaged, type BlobFacts, BlobRangeRefused, type ByteRange } from './blob.ts'

export class Digest {
  readonly #hash: Hash = createHash('sha256')
  #bytes = 0

  add(piece: Uint8Array): void {
    this.#hash.update(piece)
    this.#bytes += piece.byteLength
  }

  /** Once, at the end. */
  facts(): BlobFacts {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }

  /** The pieces as they are, counted on their way. */
  async *through(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    for await (const piece of pieces) {
      this.add(piece)
      yield piece
    }
  }
}

export function factsOf(bytes: Uint8Array): BlobFacts {
  const digest = new Digest()
  digest.add(bytes)
  return digest.facts()
}

export function assertSize(ref: string, size: number, expect: BlobFacts | undefined): void {
  if (expect && size !== expect.bytes)
    throw new BlobDamaged(ref, `they are ${size} bytes instead of the ${expect.bytes} that were stored`)
}

export function assertWhole(ref: string, found: BlobFacts, expect: BlobFacts): void {
  assertSize(ref, found.bytes, expect)
  if (found.sha256 !== expect.sha256)
    throw new BlobDamaged(ref, `their SHA-256 is ${found.sha256} instead of the ${expect.sha256} that was stored`)
}

/** Holds the last piece back until all are known to be right: who counts bytes never gets as many as a whole blob has. */
export function verified(ref: string, stream: Readable, expect: BlobFacts | undefined): Readable {
  if (!expect) return stream
  const digest = new Digest()
  let held: Uint8Array | null = null
  const check = new Transform({
    transform(piece: Uint8Array, _encoding, done) {
      digest.add(piece)
      const before = held
      held = piece
      done(null, before ?? undefined)
    },
    flush(done) {
      try {
        assertWhole(ref, digest.facts(), expect)
        done(null, held ?? undefined)
      } catch (error) {
        done(error as Error)
      }
    },
  })
  // Either of the two that breaks or is destroyed takes the other with it.
  return pipeline(stream, check, () => {})
}

/** The range as far as there are bytes. */
export function rangeWithin(ref: string, size: number, range: ByteRange): ByteRange {
  assertRange(ref, range)
  if (range.start >= size) throw new BlobRangeRefused(ref, range)
  return { start: range.start, end: Math.min(range.end, size - 1) }
}

export function assertRange(ref: string, range: ByteRange): void {
  const { start, end } = range
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start)
    throw new BlobRangeRefused(ref, range)
}
