/**
 * Refuses a PDF whose streams unpack to more than a page can use. pdf.js unpacks a stream as a whole and does nothing else
 * meanwhile, so it must not meet one of a gigabyte. Images are left out: nothing unpacks them. Packed in another way, such a
 * stream gets past this check and is ended by the run's timeout.
 */

import { constants, inflateSync } from 'node:zlib'
import type { Limits } from './limits.ts'
import { RefusedDocument } from './refused-document.ts'

const BEGIN = 'stream'
const END = 'endstream'
const DICTIONARY_BYTES = 1024

export function checkPdfStreams(bytes: Buffer, limits: Limits): void {
  let left = limits.unpackedBytesMax
  let end = 0
  for (let at = bytes.indexOf(BEGIN); at !== -1; at = bytes.indexOf(BEGIN, end)) {
    const start = at + BEGIN.length
    end = bytes.indexOf(END, start)
    if (end === -1) return
    const about = bytes.subarray(Math.max(0, at - DICTIONARY_BYTES), at).toString('latin1')
    if (isUnpackedForText(about)) left -= unpackedBytes(bytes.subarray(dataStart(bytes, start), end), limits, left)
    end += END.length
  }
}

/** The dictionary of the stream is what stands between it and the object's beginning. */
function isUnpackedForText(about: string): boolean {
  const dictionary = about.slice(about.lastIndexOf(' obj') + 1)
  return dictionary.includes('/FlateDecode') && !/\/Subtype\s{0,9}\/Image/.test(dictionary)
}

function dataStart(bytes: Buffer, start: number): number {
  if (bytes[start] === 0x0d) return start + (bytes[start + 1] === 0x0a ? 2 : 1)
  return bytes[start] === 0x0a ? start + 1 : start
}

function unpackedBytes(packed: Buffer, limits: Limits, left: number): number {
  const maxOutputLength = Math.max(1, Math.min(limits.streamBytesMax, left))
  try {
    return inflateSync(packed, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH }).length
  } catch (cause) {
    // What is damaged in another way is for pdf.js to judge.
    if ((cause as { code?: string }).code !== 'ERR_BUFFER_TOO_LARGE') return 0
    const message =
      'a part of the PDF unpacks to more than a page can use; save it again, with drawings turned into images'
    throw new RefusedDocument('ZipBomb', message, { cause })
  }
}
