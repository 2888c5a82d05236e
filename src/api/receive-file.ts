/** Bytes of one file on their way into the blob store: counted, limited, and their first ones looked at. At no time more than a few pieces are in memory. */

import type { BlobStore, StoredBlob } from '../blob/blob.ts'
import { Refusal } from '../run/errors.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { SNIFFED_BYTES, sniffType } from './sniff-type.ts'

export const FILE_BYTES_MAX = 5 * 1024 ** 3

export type ReceivedFile = { stored: StoredBlob; type: string }

export type ReceiveOptions = {
  blob: BlobStore
  metrics: Pick<Metrics, 'uploadBytes'>
  bytesMax: number
}

/** When it rejects, nothing of the file is left. */
export async function receiveFile(
  { blob, metrics, bytesMax }: ReceiveOptions,
  { uploadId, name }: { uploadId: string; name: string },
  pieces: AsyncIterable<Uint8Array>,
): Promise<ReceivedFile> {
  const first: Uint8Array[] = []
  let firstBytes = 0
  let bytes = 0

  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      bytes += piece.length
      metrics.uploadBytes.inc(piece.length)
      if (bytes > bytesMax) throw tooLarge(bytesMax)
      if (firstBytes < SNIFFED_BYTES) {
        first.push(piece)
        firstBytes += piece.length
      }
      yield piece
    }
  }

  const stored = await blob.put(`${uploadId}.file`, counted())
  return { stored, type: await sniffType(Buffer.concat(first), name) }
}

export function tooLarge(bytesMax: number): Refusal {
  return new Refusal('file-too-large', `The file is larger than ${bytesMax} bytes.`, {
    extra: { limit_bytes: bytesMax },
  })
}
