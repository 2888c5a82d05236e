/** The parts of an upload as one stream, each opened when the one before has been read. The first bytes are kept aside. */

import { BlobDamaged, type BlobStore } from '../blob/blob.ts'
import type { UploadPart } from '../store/ports/resumable-uploads.ts'
import { piecePassed } from './free-pieces.ts'

export type JoinedParts = {
  bytes: AsyncIterable<Uint8Array>
  /** What has gone by of the first bytes; all of them once everything has been read. */
  firstBytes(): Uint8Array
}

export function joinParts(blob: BlobStore, parts: readonly UploadPart[], firstBytesMax: number): JoinedParts {
  const first: Uint8Array[] = []
  let kept = 0

  async function* join(): AsyncGenerator<Uint8Array> {
    for (const { ref, bytes } of parts) {
      const { size, stream } = await blob.open(ref)
      if (size !== bytes) {
        stream.destroy()
        throw new BlobDamaged(ref, `it has ${size} bytes and not ${bytes}`)
      }
      for await (const piece of stream as AsyncIterable<Uint8Array>) {
        if (kept < firstBytesMax) {
          const part = Uint8Array.from(piece.subarray(0, firstBytesMax - kept))
          first.push(part)
          kept += part.length
        }
        yield piece
        piecePassed(piece.length)
      }
    }
  }

  return { bytes: join(), firstBytes: () => Buffer.concat(first) }
}
