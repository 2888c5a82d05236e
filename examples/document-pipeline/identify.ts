/**
 * D1: says what a document is by its bytes, never by its name, and refuses what the later steps could not read: empty,
 * encrypted, cut off, of another kind, or made to do harm.
 */

import { checkPdfStreams } from './check-pdf-streams.ts'
import { decodeText, type Encoding, encodingOf } from './decode-text.ts'
import { identifyText } from './identify-text.ts'
import type { Limits } from './limits.ts'
import { withPdf } from './open-pdf.ts'
import { openZip } from './open-zip.ts'
import { RefusedDocument, tooWide } from './refused-document.ts'

export type DocumentKind = 'text' | 'markdown' | 'html' | 'csv' | 'pdf' | 'docx'

export type Identified = {
  kind: DocumentKind
  bytes: number
  /** Of a text. */
  encoding: Encoding | null
  /** Of a CSV table. */
  delimiter: string | null
  /** Of a PDF, as it says itself. */
  pages: number | null
  /** Of a DOCX: the parts in its archive. */
  entries: number | null
  warnings: string[]
}

export const MAIN_PART = 'word/document.xml'
const PDF_START_BYTES = 1024
const SUPPORTED = 'upload plain text, Markdown, HTML, CSV, PDF or DOCX'

/** Kinds people upload by mistake, by their first bytes. */
const OTHER_KINDS: [start: string, what: string][] = [
  ['\x89PNG', 'a PNG image'],
  ['\xff\xd8\xff', 'a JPEG image'],
  ['GIF8', 'a GIF image'],
  ['\x1f\x8b', 'a gzip archive'],
  ['7z\xbc\xaf', 'a 7z archive'],
  ['Rar!', 'a RAR archive'],
  ['{\\rtf', 'a Rich Text document'],
  ['\x7fELF', 'a program'],
  ['MZ', 'a program'],
  ['SQLite format 3', 'a database'],
]

export async function identify(bytes: Buffer, limits: Limits): Promise<Identified> {
  checkSize(bytes.length, limits)
  const start = bytes.subarray(0, PDF_START_BYTES).toString('latin1')
  const found = { bytes: bytes.length, encoding: null, delimiter: null, pages: null, entries: null, warnings: [] }
  if (start.includes('%PDF-')) return { ...found, kind: 'pdf', pages: await pagesOf(bytes, limits) }
  if (start.startsWith('PK\x03\x04')) return { ...found, kind: 'docx', entries: await entriesOf(bytes, limits) }
  if (start.startsWith('\xd0\xcf\x11\xe0')) {
    const message = 'it is a Word document of before 2007 or one with a password; save it as DOCX, without a password'
    throw new RefusedDocument('EncryptedDocument', message)
  }
  const encoding = encodingOf(bytes)
  const other = OTHER_KINDS.find(([first, what]) => start.startsWith(first) && (what !== 'a program' || !encoding))
  if (other) throw new RefusedDocument('UnsupportedKind', `it is ${other[1]}; ${SUPPORTED}`)
  if (encoding === null) throw new RefusedDocument('UnsupportedKind', `its bytes are no text; ${SUPPORTED}`)
  const { text } = decodeText(bytes, encoding, limits.charactersMax)
  if (text.trim() === '')
    throw new RefusedDocument('EmptyDocument', 'it holds nothing but blanks; upload the right file')
  const { kind, delimiter, columns } = identifyText(text)
  if (columns > limits.columnsMax) throw tooWide(columns, limits.columnsMax)
  return { ...found, kind, delimiter, encoding, warnings: textWarnings(text, encoding) }
}

/** Also before a file is read into memory. */
export function checkSize(bytes: number, { bytesMax }: Limits): void {
  if (bytes === 0) throw new RefusedDocument('EmptyDocument', 'the file is empty; upload it again')
  if (bytes <= bytesMax) return
  const megabytes = (value: number) => Math.ceil(value / 1024 / 1024)
  const message = `the file has ${megabytes(bytes)} MB, of ${megabytes(bytesMax)} MB allowed; split it`
  throw new RefusedDocument('DocumentTooLarge', message)
}

async function pagesOf(bytes: Buffer, limits: Limits): Promise<number> {
  checkPdfStreams(bytes, limits)
  return withPdf(bytes, async (pdf) => pdf.numPages)
}

async function entriesOf(bytes: Buffer, limits: Limits): Promise<number> {
  const zip = await openZip(bytes, limits)
  if (zip.has('[Content_Types].xml') && zip.has(MAIN_PART)) return zip.entryCount
  throw new RefusedDocument('UnsupportedKind', `it is a ZIP archive but no Word document; ${SUPPORTED}`)
}

function textWarnings(text: string, encoding: Encoding): string[] {
  if (encoding === 'windows-1252') return ['the text is no valid UTF-8 and was read as Windows-1252']
  return text.includes('\ufffd') ? ['some characters could not be decoded'] : []
}
