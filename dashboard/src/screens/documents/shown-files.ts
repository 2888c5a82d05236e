/**
 * The files of a batch as they are shown: what the service has, and what is still on its way from here, each once, in the order of their
 * names, with the word for where it is.
 */

import type { Upload, UploadState } from '@holdfast/client'
import type { Row } from './upload-row.ts'

/** Local words beside those of the service. */
export type Word = UploadState | 'SENDING' | 'NOT_SENT'

export const WORDS: Word[] = ['SENDING', 'NOT_SENT', 'UPLOADED', 'PROCESSING', 'DONE', 'ERROR', 'DUPLICATE']

export type ShownFile = {
  key: string
  name: string
  size: number
  word: Word
  upload: Upload | null
  row: Row | null
}

export type Counts = Record<Word, number> & { all: number }

/** An upload that a row here brought and that the service lists too is shown as listed: that is newer. */
export function shownFiles(rows: readonly Row[], uploads: readonly Upload[]): ShownFile[] {
  const listed = new Map(uploads.map((upload) => [upload.upload_id, upload]))
  const shown: ShownFile[] = []
  for (const row of rows) {
    const own = row.state.at === 'in' ? row.state.upload : null
    if (own && listed.has(own.upload_id)) continue
    const word = own?.state ?? (row.state.at === 'failed' ? 'NOT_SENT' : 'SENDING')
    shown.push({ key: own?.upload_id ?? `row-${row.id}`, name: row.name, size: row.size, word, upload: own, row })
  }
  for (const upload of listed.values()) {
    const { upload_id: key, name, size, state: word } = upload
    shown.push({ key, name, size, word, upload, row: null })
  }
  return shown.sort((a, b) => compare(placeOf(a.name), placeOf(b.name)) || compare(a.key, b.key))
}

export function countsOf(files: readonly ShownFile[]): Counts {
  const counts = Object.fromEntries(WORDS.map((word) => [word, 0])) as Counts
  counts.all = files.length
  for (const { word } of files) counts[word] += 1
  return counts
}

/** How many have come to their end, whatever it is. Of files that no model reads, being stored is the end. */
export function endedAmong(files: readonly ShownFile[]): number {
  return files.filter(({ word, upload }) => isEnd(word) || (word === 'UPLOADED' && upload?.run_id === null)).length
}

export function filtered(files: readonly ShownFile[], word: string | undefined, text: string): ShownFile[] {
  const wanted = text.trim().toLowerCase()
  if (!word && wanted === '') return [...files]
  return files.filter((file) => (!word || file.word === word) && file.name.toLowerCase().includes(wanted))
}

/** `40 done, 8 duplicates, 2 errors`. */
export function countsLine(counts: Counts): string {
  const plural = (count: number, one: string, many = `${one}s`) => `${NUMBER.format(count)} ${count === 1 ? one : many}`
  return [
    counts.SENDING > 0 && `${NUMBER.format(counts.SENDING)} to be sent`,
    counts.NOT_SENT > 0 && `${NUMBER.format(counts.NOT_SENT)} not sent`,
    counts.UPLOADED > 0 && `${NUMBER.format(counts.UPLOADED)} uploaded`,
    counts.PROCESSING > 0 && `${NUMBER.format(counts.PROCESSING)} processing`,
    counts.DONE > 0 && `${NUMBER.format(counts.DONE)} done`,
    counts.DUPLICATE > 0 && plural(counts.DUPLICATE, 'duplicate'),
    counts.ERROR > 0 && plural(counts.ERROR, 'error'),
  ]
    .filter(Boolean)
    .join(', ')
}

const places = new Map<string, string>()
const PLACES_MAX = 100_000

/** 9 before 10, as people count. Kept, because thousands of names are put in order again whenever one file has moved on. */
function placeOf(name: string): string {
  const known = places.get(name)
  if (known !== undefined) return known
  if (places.size >= PLACES_MAX) places.clear()
  const place = name.toLowerCase().replaceAll(/\d+/g, (digits) => digits.padStart(12, '0'))
  places.set(name, place)
  return place
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

const NUMBER = new Intl.NumberFormat('en')

function isEnd(word: Word): boolean {
  return word === 'DONE' || word === 'ERROR' || word === 'DUPLICATE'
}
