/** Documents that were uploaded before. */

import { countOf, type Documents, documentList, subjectOf } from './documents.ts'
import { type Letter, paragraph } from './letter.ts'
import type { Places } from './places.ts'

export function duplicateLetter(told: Documents, places: Places): Letter {
  const isOne = countOf(told) === 1
  return {
    subject: subjectOf(told, 'was uploaded before', 'were uploaded before'),
    blocks: [
      paragraph(
        isOne
          ? 'This document had been uploaded before, byte for byte. It was not processed again; the first upload counts.'
          : 'These documents had been uploaded before, byte for byte. They were not processed again; the first uploads count.',
      ),
      documentList(told, places),
      paragraph(`Nothing needs to be done. The link${isOne ? ' leads' : 's lead'} to what became of the first upload.`),
    ],
  }
}
