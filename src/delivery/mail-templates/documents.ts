/** Documents in letters: how many there are, what they are called, and where each is found. */

import type { DocumentOf } from '../../store/ports/outbox.ts'
import type { Block } from './letter.ts'
import { oneLine } from './one-line.ts'
import type { Places } from './places.ts'

export type Documents = { documents: DocumentOf[]; more: number }

export function countOf({ documents, more }: Documents): number {
  return documents.length + more
}

/** `“invoice.pdf” was …` for one, `12 documents were …` for more. */
export function subjectOf(told: Documents, one: string, several: string): string {
  const count = countOf(told)
  if (count === 1 && told.documents[0]) return `“${oneLine(told.documents[0].name, 80)}” ${one}`
  return `${number(count)} documents ${several}`
}

export function documentList({ documents, more }: Documents, places: Places): Block {
  return {
    kind: 'documents',
    documents: documents.map(({ name, runId }) => ({
      name: oneLine(name) || 'without a name',
      url: places.run(runId),
    })),
    more,
  }
}

export function number(count: number): string {
  return count.toLocaleString('en-US')
}

/** `“March invoices”`, or the words for a batch without a title. */
export function batchName(title: string | null, otherwise: string): string {
  const line = title === null ? '' : oneLine(title, 80)
  return line === '' ? otherwise : `“${line}”`
}
