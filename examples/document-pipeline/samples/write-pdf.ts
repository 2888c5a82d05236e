/** Writes a small PDF with one font, a page per list of lines. Characters of Windows-1252 only. */

import { deflateSync } from 'node:zlib'

export type PdfOptions = {
  /** Objects in addition, from number 4 on, each the text between `obj` and `endobj`. */
  objects?: string[]
  /** Entries in addition, such as `/OpenAction 4 0 R`. */
  catalog?: string
  trailer?: string
  /** What the page tree says it holds. */
  pageCount?: number
  /** What each content stream says of its length. */
  streamBytes?: number
}

const HEAD = '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n'
const CATALOG = 1
const TREE = 2
const FONT = 3
const WIN_ANSI = new Map(
  Object.entries({
    '€': 0x80,
    '‚': 0x82,
    '„': 0x84,
    '…': 0x85,
    '‘': 0x91,
    '’': 0x92,
    '“': 0x93,
    '”': 0x94,
    '–': 0x96,
    '—': 0x97,
  }),
)

export function writePdf(pages: string[][], options: PdfOptions = {}): Buffer {
  const extra = options.objects ?? []
  const firstPage = FONT + 1 + extra.length
  const pageNumbers = pages.map((_, index) => firstPage + 2 * index)
  const kids = pageNumbers.map((number) => `${number} 0 R`).join(' ')
  const objects = [
    text(`<< /Type /Catalog /Pages ${TREE} 0 R ${options.catalog ?? ''} >>`),
    text(`<< /Type /Pages /Kids [${kids}] /Count ${options.pageCount ?? pages.length} >>`),
    text('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'),
    ...extra.map(text),
    ...pages.flatMap((lines, index) => [page(firstPage + 2 * index + 1), content(lines, options.streamBytes)]),
  ]
  return withTable(objects, options.trailer ?? '')
}

function page(contentNumber: number): Buffer {
  const resources = `<< /Font << /F1 ${FONT} 0 R >> >>`
  const box = '[0 0 595 842]'
  return text(
    `<< /Type /Page /Parent ${TREE} 0 R /MediaBox ${box} /Resources ${resources} /Contents ${contentNumber} 0 R >>`,
  )
}

function content(lines: string[], streamBytes?: number): Buffer {
  const drawn = lines.map((line) => Buffer.concat([text('('), winAnsi(line), text(') Tj T*\n')]))
  const stream = deflateSync(Buffer.concat([text('BT /F1 11 Tf 14 TL 50 790 Td\n'), ...drawn, text('ET')]))
  const about = `<< /Length ${streamBytes ?? stream.length} /Filter /FlateDecode >>\nstream\n`
  return Buffer.concat([text(about), stream, text('\nendstream')])
}

function withTable(objects: Buffer[], trailer: string): Buffer {
  const parts = [text(HEAD)]
  const offsets: number[] = []
  let offset = HEAD.length
  for (const [index, object] of objects.entries()) {
    const whole = Buffer.concat([text(`${index + 1} 0 obj\n`), object, text('\nendobj\n')])
    offsets.push(offset)
    offset += whole.length
    parts.push(whole)
  }
  const rows = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  parts.push(text(`xref\n0 ${size}\n0000000000 65535 f \n${rows}`))
  parts.push(text(`trailer\n<< /Size ${size} /Root ${CATALOG} 0 R ${trailer} >>\nstartxref\n${offset}\n%%EOF\n`))
  return Buffer.concat(parts)
}

function winAnsi(line: string): Buffer {
  const bytes = [...line].map((letter) => WIN_ANSI.get(letter) ?? letter.codePointAt(0)!)
  if (bytes.some((byte) => byte > 0xff)) throw new RangeError(`not in Windows-1252: ${line}`)
  return Buffer.from(bytes.flatMap((byte) => (byte === 0x28 || byte === 0x29 || byte === 0x5c ? [0x5c, byte] : [byte])))
}

function text(value: string): Buffer {
  return Buffer.from(value, 'latin1')
}
