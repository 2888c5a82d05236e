/** The words for where a file is, each with its look and with a sentence. */

import type { Look } from '../../parts/tone-badge.tsx'
import type { ShownFile, Word } from './shown-files.ts'
import type { Row } from './upload-row.ts'

export const LOOKS: Record<Word, Look> = {
  SENDING: { word: 'TO BE SENT', shape: '↑', tone: 'running' },
  NOT_SENT: { word: 'NOT SENT', shape: '✕', tone: 'bad' },
  UPLOADED: { word: 'UPLOADED', shape: '○', tone: 'waiting' },
  PROCESSING: { word: 'PROCESSING', shape: '◐', tone: 'running' },
  DONE: { word: 'DONE', shape: '✓', tone: 'good' },
  ERROR: { word: 'ERROR', shape: '✕', tone: 'bad' },
  DUPLICATE: { word: 'DUPLICATE', shape: '=', tone: 'quiet' },
}

/** Of the chips above the list. */
export const CHIP_LABELS: Record<Word, string> = {
  SENDING: 'To be sent',
  NOT_SENT: 'Not sent',
  UPLOADED: 'Uploaded',
  PROCESSING: 'Processing',
  DONE: 'Done',
  ERROR: 'Error',
  DUPLICATE: 'Duplicate',
}

/** Of an ERROR and a DUPLICATE more is known, and has to be asked for. */
export function sentenceFor({ word, upload, row }: ShownFile): string {
  if (word === 'SENDING') return row ? onItsWay(row) : ''
  if (word === 'NOT_SENT') return row?.state.at === 'failed' ? `${row.state.advice.what} ${row.state.advice.todo}` : ''
  if (word === 'UPLOADED') return upload?.run_id === null ? 'Stored.' : 'Stored. It waits for its turn.'
  if (word === 'PROCESSING') return 'Being read right now.'
  if (word === 'DONE') return 'The result is ready.'
  if (word === 'ERROR') return 'It could not be read.'
  return 'You handed in the same document before; it is not processed twice.'
}

function onItsWay({ state, size }: Row): string {
  if (state.at === 'checking') return `Being checked${percent(state.read, size)}.`
  if (state.at === 'sending') return `Sending${percent(state.sent, size)}.`
  if (state.at === 'twin') return 'The same as another file of this batch. It waits for that one.'
  return 'Waiting to be sent.'
}

function percent(bytes: number, size: number): string {
  return bytes === 0 || size === 0 ? '' : `, ${Math.floor((100 * bytes) / size)} %`
}
