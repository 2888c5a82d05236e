/** Documents that failed for the same reason, after all retries: why, and what to do. */

import { adviceFor } from './advice.ts'
import { countOf, type Documents, documentList, subjectOf } from './documents.ts'
import { type Letter, paragraph } from './letter.ts'
import { oneLine } from './one-line.ts'
import type { Places } from './places.ts'

export type Failures = Documents & { error: { class: string; message: string }; batchId: string | null }

export function failureLetter(told: Failures, places: Places): Letter {
  const { error, batchId } = told
  return {
    subject: subjectOf(told, 'could not be processed', 'could not be processed'),
    blocks: [
      paragraph(
        countOf(told) === 1
          ? 'This document could not be processed, and is not tried again by itself.'
          : 'These documents could not be processed, and are not tried again by themselves.',
      ),
      documentList(told, places),
      {
        kind: 'facts',
        rows: [
          {
            name: 'Reason',
            value: `${oneLine(error.message, 500) || 'none was given'} (${oneLine(error.class, 100)})`,
          },
          { name: 'What to do', value: adviceFor(error.class) },
        ],
      },
      ...(batchId === null
        ? []
        : [{ kind: 'link', label: 'All documents of this upload', url: places.batch(batchId) } as const]),
    ],
  }
}
