/** Hands documents in as people do: in batches, several at once, some of them in pieces, through an API that may go away for a while. */

import { createHash } from 'node:crypto'
import { type Holdfast, type Upload, UploadFailed } from '../../client/src/index.ts'
import type { Sample } from '../../examples/document-pipeline/make-samples.ts'

const TRIES_MAX = 10
const PIECE_BYTES = 1_024

/** What is kept of a sample: not its bytes. */
export type Handed = Pick<Sample, 'name' | 'expected' | 'errorClass'> & {
  sha256: string
  batchId: string
  upload: Upload
}

export type HandInOptions = {
  model: string
  /** Uploads at once. */
  concurrency: number
  inPieces: (index: number) => boolean
  onFile: () => void
}

export async function handIn(
  client: Holdfast,
  samples: { index: number; sample: Sample }[],
  { model, concurrency, inPieces, onFile }: HandInOptions,
): Promise<Handed[]> {
  const { batch_id: batchId } = await client.batches.create({ title: `documents from ${samples[0]?.index}` })
  const handed: Handed[] = []
  let left = samples
  for (let tries = 1; left.length > 0; tries += 1) {
    if (tries > TRIES_MAX) throw new Error(`${left.length} documents could not be handed in`)
    const items = left.map(({ index, sample: { name, bytes } }) => ({
      input: new Uint8Array(bytes),
      name,
      // The same document again is the same upload, whatever became of the first try.
      idempotencyKey: `document-${index}`,
      resumable: inPieces(index),
    }))
    const many = await client.files.uploadMany(items, { model, batchId, concurrency, pieceBytes: PIECE_BYTES, onFile })
    const done = new Set<number>()
    for (const outcome of many.outcomes) {
      const { sample } = left[outcome.index]!
      if (!outcome.ok) {
        if (outcome.error instanceof UploadFailed && outcome.error.isOutage) continue
        throw outcome.error
      }
      const { name, expected, errorClass, bytes } = sample
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      handed.push({ name, expected, ...(errorClass && { errorClass }), sha256, batchId, upload: outcome.upload })
      done.add(outcome.index)
    }
    left = left.filter((_, index) => !done.has(index))
  }
  return handed
}
