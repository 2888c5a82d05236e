/**
 * Reads parts of a ZIP archive that may want to do harm: the directory is checked before anything is unpacked, and a part stops
 * at its limit whatever the directory said of its size. Nothing is written anywhere, so names of entries do not matter.
 */

import type { Entry, ZipFile } from 'yauzl'
import type { Limits } from './limits.ts'
import { RefusedDocument } from './refused-document.ts'

export type OpenZip = {
  entryCount: number
  has(name: string): boolean
  /** Of an entry that `has` knows. */
  read(name: string): Promise<Buffer>
}

/** Small parts may shrink as well as they like. */
const RATIO_FROM_BYTES = 1024 * 1024

export async function openZip(bytes: Buffer, limits: Limits): Promise<OpenZip> {
  const { fromBufferPromise } = await import('yauzl')
  let zip: ZipFile
  const entries = new Map<string, Entry>()
  try {
    zip = await fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: true })
    if (zip.entryCount > limits.entriesMax)
      throw bomb(`holds ${zip.entryCount} entries, of ${limits.entriesMax} allowed`)
    for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry)
  } catch (cause) {
    throw cause instanceof RefusedDocument ? cause : unreadable(cause)
  }
  for (const entry of entries.values()) checkEncryption(entry)
  const total = [...entries.values()].reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0)
  checkSize(total, limits.unpackedBytesMax)
  const packed = Math.min(
    bytes.length,
    [...entries.values()].reduce((sum, { compressedSize }) => sum + compressedSize, 0),
  )
  if (total > RATIO_FROM_BYTES && total > packed * limits.unpackedRatioMax) {
    throw bomb(`unpacks to ${Math.round(total / packed)} times its size, of ${limits.unpackedRatioMax} times allowed`)
  }
  return {
    entryCount: entries.size,
    has: (name) => entries.has(name),
    read: (name) => readEntry(zip, entries.get(name)!, limits.partBytesMax),
  }
}

async function readEntry(zip: ZipFile, entry: Entry, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      size += (chunk as Buffer).length
      checkSize(size, bytesMax)
      chunks.push(chunk as Buffer)
    }
  } catch (cause) {
    if (cause instanceof RefusedDocument) throw cause
    if (String((cause as Error).message).startsWith('too many bytes')) {
      throw bomb('unpacks to more than it says', { cause })
    }
    throw unreadable(cause)
  }
  return Buffer.concat(chunks, size)
}

function checkEncryption(entry: Entry): void {
  if (!entry.isEncrypted()) return
  throw new RefusedDocument('EncryptedDocument', 'the archive is protected by a password; save it without one')
}

function checkSize(bytes: number, bytesMax: number): void {
  const megabytes = (value: number) => Math.ceil(value / 1024 / 1024)
  if (bytes > bytesMax) throw bomb(`unpacks to ${megabytes(bytes)} MB or more, of ${megabytes(bytesMax)} MB allowed`)
}

function bomb(what: string, options?: ErrorOptions): RefusedDocument {
  const message = `the document ${what}; save it again where it was written, in smaller parts if it is real`
  return new RefusedDocument('ZipBomb', message, options)
}

function unreadable(cause: unknown): RefusedDocument {
  const reason = cause instanceof Error ? cause.message : String(cause)
  if (/end of central directory|unexpected end|out of bounds|unexpected EOF/i.test(reason)) {
    const message = 'the end of the document is missing, as after an upload that was cut off; upload the whole file'
    return new RefusedDocument('TruncatedDocument', message, { cause })
  }
  const message = `the document is a damaged ZIP archive (${reason}); save it again and upload that`
  return new RefusedDocument('DamagedDocument', message, { cause })
}
