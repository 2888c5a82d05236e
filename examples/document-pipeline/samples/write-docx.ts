/** Writes the smallest Word document that word processors open. */

import { writeZip, type ZipEntry } from './write-zip.ts'

const NAMESPACE = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PROLOGUE = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

const CONTENT_TYPES = `${PROLOGUE}<Types xmlns="${PACKAGE}/content-types">\
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>\
<Default Extension="xml" ContentType="application/xml"/>\
<Override PartName="/word/document.xml" \
ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`

const RELATIONS = `${PROLOGUE}<Relationships xmlns="${PACKAGE}/relationships">\
<Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>`

export function writeDocx(paragraphs: string[]): Buffer {
  return writeDocxOf(documentXml(paragraphs))
}

/** `document` is the main part, as XML or as an entry of its own. */
export function writeDocxOf(document: string | ZipEntry, more: ZipEntry[] = []): Buffer {
  const main = typeof document === 'string' ? { name: 'word/document.xml', bytes: Buffer.from(document) } : document
  return writeZip([
    { name: '[Content_Types].xml', bytes: Buffer.from(CONTENT_TYPES) },
    { name: '_rels/.rels', bytes: Buffer.from(RELATIONS) },
    main,
    ...more,
  ])
}

/** `beforeRoot` stands where a document type may be declared. */
export function documentXml(paragraphs: string[], beforeRoot = ''): string {
  const body = paragraphs.map((text) => `<w:p><w:r><w:t xml:space="preserve">${escaped(text)}</w:t></w:r></w:p>`)
  return `${PROLOGUE}${beforeRoot}<w:document xmlns:w="${NAMESPACE}"><w:body>${body.join('')}</w:body></w:document>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
