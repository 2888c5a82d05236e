/**
 * Documents that must end as ERROR, and the class of the error each ends with.
 *
 * They are made when they are asked for and never kept: some unpack to more than a disk holds. `salt` makes two of one kind
 * differ in their bytes, so that the second is no duplicate of the first; only the empty file cannot differ, and stands in a
 * set at most once.
 */

import { Buffer } from 'node:buffer'
import { seededRandom } from 'holdfast'
import { documentXml, writeDocx, writeDocxOf } from './write-docx.ts'
import { writePdf } from './write-pdf.ts'
import { deflatedZeros, writeZip } from './write-zip.ts'

export type BrokenSample = { name: string; bytes: Buffer; errorClass: string }

const LINES = ['The station was inspected twice.', 'Nothing was found.']
const BOMB_MEGABYTES = 300

const MAKERS: Record<string, (salt: string) => BrokenSample> = {
  garbage: (salt) => ({ name: 'notes.txt', bytes: garbage(salt, 3000), errorClass: 'UnsupportedKind' }),
  image: (salt) => ({
    name: 'scan.pdf',
    bytes: Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), garbage(salt, 200)]),
    errorClass: 'UnsupportedKind',
  }),
  encryptedPdf: (salt) => ({ name: 'secret.pdf', bytes: encryptedPdf(salt), errorClass: 'EncryptedDocument' }),
  truncatedPdf: (salt) => ({
    name: 'half.pdf',
    bytes: cut(writePdf([[...LINES, salt]]), 0.6),
    errorClass: 'TruncatedDocument',
  }),
  truncatedDocx: (salt) => ({
    name: 'half.docx',
    bytes: cut(writeDocx([...LINES, salt]), 0.6),
    errorClass: 'TruncatedDocument',
  }),
  encryptedDocx: (salt) => ({
    name: 'secret.docx',
    bytes: writeDocxOf({ name: 'word/document.xml', bytes: garbage(salt, 500), flags: 1 }),
    errorClass: 'EncryptedDocument',
  }),
  oldOffice: (salt) => ({
    name: 'letter.doc',
    bytes: Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), garbage(salt, 600)]),
    errorClass: 'EncryptedDocument',
  }),
  honestBomb: (salt) => ({ name: 'bomb.docx', bytes: zipBomb(salt, true, BOMB_MEGABYTES), errorClass: 'ZipBomb' }),
  lyingBomb: (salt) => ({ name: 'small.docx', bytes: zipBomb(salt, false, BOMB_MEGABYTES), errorClass: 'ZipBomb' }),
  nestedZip: (salt) => ({
    name: 'archive.docx',
    bytes: writeZip([{ name: 'inner.zip', bytes: writeZip([{ name: `${salt}.docx`, bytes: writeDocx(LINES) }]) }]),
    errorClass: 'UnsupportedKind',
  }),
  billionLaughs: (salt) => ({ name: 'laughs.docx', bytes: billionLaughs(salt), errorClass: 'UnsafeDocument' }),
  externalEntity: (salt) => ({
    name: 'outside.docx',
    bytes: writeDocxOf(documentXml([salt], '<!DOCTYPE x [<!ENTITY out SYSTEM "file:///etc/passwd">]>')),
    errorClass: 'UnsafeDocument',
  }),
  unclosedQuote: (salt) => ({
    name: 'table.csv',
    bytes: Buffer.from(`station,remark,reading\n1,${salt},3\n2,good,4\n3,"never closed,5\n4,good,6\n`),
    errorClass: 'DamagedDocument',
  }),
  wideTable: (salt) => ({
    name: 'wide.csv',
    bytes: Buffer.from(`${salt}${',a'.repeat(30_000)}\n1${',2'.repeat(30_000)}\n`),
    errorClass: 'DocumentTooLarge',
  }),
}

export const BROKEN_KINDS = Object.keys(MAKERS)

export function brokenSample(kind: string, salt: string): BrokenSample {
  return MAKERS[kind]!(salt)
}

export function emptySample(): BrokenSample {
  return { name: 'empty.txt', bytes: Buffer.alloc(0), errorClass: 'EmptyDocument' }
}

/** `honest` says how much it unpacks to; the other kind says it is small. */
export function zipBomb(salt: string, honest: boolean, megabytes: number): Buffer {
  const size = honest ? megabytes * 1024 * 1024 : 2000
  const main = { name: 'word/document.xml', bytes: deflatedZeros(megabytes), deflated: true, size }
  return writeDocxOf(main, [{ name: `custom/${salt}.xml`, bytes: Buffer.from(salt) }])
}

/** The password is checked against a key of random bytes, which no password gives. */
function encryptedPdf(salt: string): Buffer {
  const key = garbage(salt, 64).toString('hex')
  const encrypt = `<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <${key.slice(0, 64)}> /U <${key.slice(64)}> >>`
  const id = `<${key.slice(0, 32)}>`
  return writePdf([LINES], { objects: [encrypt], trailer: `/Encrypt 4 0 R /ID [${id} ${id}]` })
}

function billionLaughs(salt: string): Buffer {
  const levels = Array.from({ length: 9 }, (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`)
  const type = `<!DOCTYPE x [<!ENTITY l0 "ha">${levels.join('')}]>`
  return writeDocxOf(documentXml([salt], type).replace('<w:body>', '<w:body><w:p><w:r><w:t>&l9;</w:t></w:r></w:p>'))
}

function cut(bytes: Buffer, part: number): Buffer {
  return bytes.subarray(0, Math.floor(bytes.length * part))
}

function garbage(salt: string, length: number): Buffer {
  const random = seededRandom(
    length,
    [...salt].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1e9, 7),
  )
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)))
}
