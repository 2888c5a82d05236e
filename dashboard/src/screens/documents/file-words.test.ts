import type { Upload } from '@holdfast/client'
import { expect, it } from 'vitest'
import { sentenceFor } from './file-words.ts'
import type { ShownFile, Word } from './shown-files.ts'
import type { RowState } from './upload-row.ts'

const file = (word: Word, state: RowState | null, upload: Partial<Upload> | null = null): ShownFile => ({
  ...{ key: 'k', name: 'a.pdf', size: 200, word, upload: upload as Upload | null },
  row: state && { id: 0, name: 'a.pdf', path: 'a.pdf', size: 200, sha256: null, state },
})

it.each([
  [file('SENDING', { at: 'waiting' }), 'Waiting to be sent.'],
  [file('SENDING', { at: 'checking', read: 0 }), 'Being checked.'],
  [file('SENDING', { at: 'checked' }), 'Waiting to be sent.'],
  [file('SENDING', { at: 'sending', sent: 81 }), 'Sending, 40 %.'],
  [file('SENDING', { at: 'twin', of: 1 }), 'The same as another file of this batch. It waits for that one.'],
  [file('NOT_SENT', { at: 'failed', advice: { what: 'Too large.', todo: 'Split it.' } }), 'Too large. Split it.'],
  [file('UPLOADED', null, { run_id: null }), 'Stored.'],
  [file('UPLOADED', null, { run_id: 'r' }), 'Stored. It waits for its turn.'],
  [file('PROCESSING', null), 'Being read right now.'],
  [file('DONE', null), 'The result is ready.'],
  [file('DUPLICATE', null), 'You handed in the same document before; it is not processed twice.'],
])('%#: what a file says of itself', (one, sentence) => expect(sentenceFor(one)).toBe(sentence))
