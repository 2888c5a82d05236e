/** So many documents of an owner, or of a batch, are done. */

import { batchName, number } from './documents.ts'
import { type Letter, paragraph } from './letter.ts'
import type { Places } from './places.ts'

export type Progress = { done: number; batchId: string | null; batchTitle: string | null }

export function progressLetter({ done, batchId, batchTitle }: Progress, places: Places): Letter {
  const of = batchId === null ? '' : ` of ${batchName(batchTitle, 'an upload')}`
  const documents = `${number(done)} ${done === 1 ? 'document' : 'documents'}${of}`
  return {
    subject: `${documents} ${done === 1 ? 'is' : 'are'} done`,
    blocks: [
      paragraph(`${documents} ${done === 1 ? 'has' : 'have'} been processed so far. The work goes on.`),
      {
        kind: 'link',
        label: 'See how far it is',
        url: batchId === null ? places.documents() : places.batch(batchId),
      },
    ],
  }
}
