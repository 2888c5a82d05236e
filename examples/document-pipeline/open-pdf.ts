/**
 * Opens a PDF with pdf.js for its text alone: nothing of it is drawn, no script in it runs, no font is loaded, nothing is
 * fetched. Whatever pdf.js says of a file it cannot read becomes a refusal.
 */

import type { PDFDocumentProxy } from 'unpdf/pdfjs'
import { RefusedDocument } from './refused-document.ts'

/** Other programs forgive this much after the end mark, too. */
const TAIL_BYTES = 1024
const ERRORS_ONLY = 0
const OPEN_OBJECTS_MAX = 1000

/** Calls `use` with the open document and closes it in any case. Takes a copy of the bytes: pdf.js keeps what it is given. */
export async function withPdf<T>(bytes: Uint8Array, use: (pdf: PDFDocumentProxy) => Promise<T>): Promise<T> {
  checkEnd(bytes)
  checkObjects(bytes)
  const { getDocument } = await import('unpdf/pdfjs')
  const loading = getDocument({
    data: new Uint8Array(bytes),
    verbosity: ERRORS_ONLY,
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
    useWasm: false,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    maxImageSize: 0,
    disableAutoFetch: true,
    disableStream: true,
    disableRange: true,
    stopAtErrors: false,
  })
  try {
    return await use(await loading.promise)
  } catch (cause) {
    throw cause instanceof RefusedDocument ? cause : refusalOf(cause)
  } finally {
    await loading.destroy()
  }
}

function checkEnd(bytes: Uint8Array): void {
  const tail = Buffer.from(bytes.subarray(-TAIL_BYTES)).toString('latin1')
  if (tail.includes('%%EOF')) return
  const message = 'the end of the PDF is missing, as after an upload that was cut off; upload the whole file'
  throw new RefusedDocument('TruncatedDocument', message)
}

/** For each object without an end pdf.js would read on to the end of the file, when it mends a damaged one. */
function checkObjects(bytes: Uint8Array): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // An end is counted as a beginning as well: both words end in "obj".
  if (count(buffer, 'obj') - 2 * count(buffer, 'endobj') <= OPEN_OBJECTS_MAX) return
  const message = 'the PDF is damaged (its objects have no end); save it again and upload that'
  throw new RefusedDocument('DamagedDocument', message)
}

function count(bytes: Buffer, word: string): number {
  let found = 0
  for (let at = bytes.indexOf(word); at !== -1; at = bytes.indexOf(word, at + word.length)) found++
  return found
}

function refusalOf(cause: unknown): RefusedDocument {
  const { name, message } = cause instanceof Error ? cause : { name: '', message: String(cause) }
  if (name === 'PasswordException') {
    return new RefusedDocument('EncryptedDocument', 'the PDF is protected by a password; save it without one', {
      cause,
    })
  }
  return new RefusedDocument('DamagedDocument', `the PDF is damaged (${message}); save it again and upload that`, {
    cause,
  })
}
