/** Documents that want to do harm or are merely odd: each ends soon, with a sensible result or with its own error. */

import { deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { LIMITS } from './limits.ts'
import { outcomeOf, readDocument } from './samples/read-document.ts'
import { documentXml, writeDocx, writeDocxOf } from './samples/write-docx.ts'
import { writePdf } from './samples/write-pdf.ts'

const LINES = ['The station was inspected twice by the engineers.']

describe('PDF', () => {
  const plain = writePdf([LINES]).toString('latin1')
  const withStream = (packed: Buffer) => {
    const stream = `<< /Length ${packed.length} /Filter /FlateDecode>>\nstream\n${packed.toString('latin1')}\nendstream`
    return Buffer.from(
      plain.replace(/<< \/Length[^>]*>>\nstream\n[\s\S]*?\nendstream/, () => stream),
      'latin1',
    )
  }

  test.each([
    ['a page count of a billion', writePdf([LINES], { pageCount: 1e9 }), 'pdf'],
    ['a page count below zero', writePdf([LINES], { pageCount: -1 }), 'DamagedDocument'],
    ['no pages', writePdf([]), 'DamagedDocument'],
    ['a page without text', writePdf([[]]), 'pdf'],
    ['a stream that says it has a gigabyte', writePdf([LINES], { streamBytes: 1e9 }), 'pdf'],
    ['a stream that says it has a byte', writePdf([LINES], { streamBytes: 1 }), 'pdf'],
    ['a page tree that contains itself', plain.replace('/Kids [4 0 R]', '/Kids [2 0 R]'), 'DamagedDocument'],
    ['no table of objects', plain.replace(/xref[\s\S]*$/, '%%EOF'), 'DamagedDocument'],
    ['a table that is elsewhere', plain.replace(/startxref\n\d+/, 'startxref\n99999999'), 'pdf'],
    ['a head and a tail', '%PDF-1.7\n%%EOF', 'DamagedDocument'],
    ['objects without an end', `%PDF-1.7\n${'1 0 obj << [ ( '.repeat(20_000)}%%EOF`, 'DamagedDocument'],
    ['lists in lists', `%PDF-1.7\n1 0 obj\n${'[ '.repeat(100_000)}\nendobj\n%%EOF`, 'DamagedDocument'],
    ['a stream of 50 MB of text', withStream(deflateSync(Buffer.alloc(50e6, '(a) Tj '))), 'ZipBomb'],
    ['a stream that is damaged', withStream(Buffer.alloc(500, 'damaged')), 'pdf'],
  ])('%s', async (_, content, expected) => {
    expect(await outcomeOf(Buffer.from(content as string, 'latin1'))).toBe(expected)
  })

  test('scripts in it do not run', async () => {
    const script = '<< /S /JavaScript /JS (globalThis.scriptRan = true) >>'
    const result = await readDocument(writePdf([LINES], { objects: [script], catalog: '/OpenAction 4 0 R' }))
    expect(result.statistics.words).toBe(8)
    expect(globalThis).not.toHaveProperty('scriptRan')
  })

  test('pages past the limit are left out, and the result says so', async () => {
    const result = await readDocument(writePdf([LINES, LINES, LINES]), { ...LIMITS, pagesMax: 2 })
    expect(result).toMatchObject({ pages: 3, truncated: true, statistics: { words: 16 } })
  })

  test('one whose text takes too long is refused', async () => {
    expect(await outcomeOf(writePdf([LINES]), { ...LIMITS, extractMs: -1 })).toBe('DocumentTooSlow')
  })
})

describe('DOCX', () => {
  test.each([
    ['a main part that is no XML', writeDocxOf('no XML'), 'DamagedDocument'],
    ['a main part that breaks off', writeDocxOf(documentXml(LINES).slice(0, -20)), 'DamagedDocument'],
    ['elements 5,000 deep', writeDocxOf(`<w:document>${'<w:p>'.repeat(5000)}`), 'DamagedDocument'],
    ['entities nobody declared', writeDocxOf(documentXml(['x']).replace('x<', '&secret;x<')), 'docx'],
  ])('%s', async (_, bytes, expected) => {
    expect(await outcomeOf(bytes)).toBe(expected)
  })

  test('an archive of more parts, or of more bytes, than allowed is not unpacked', async () => {
    const bytes = writeDocx(LINES)
    expect(await outcomeOf(bytes, { ...LIMITS, entriesMax: 2 })).toBe('ZipBomb')
    expect(await outcomeOf(bytes, { ...LIMITS, unpackedBytesMax: 100 })).toBe('ZipBomb')
    expect(await outcomeOf(bytes, { ...LIMITS, partBytesMax: 100 })).toBe('ZipBomb')
  })

  test('deleted text and the second version of a drawing are left out', async () => {
    const hidden =
      '<w:p><w:r><w:delText>gone</w:delText><mc:Fallback><w:t>again</w:t></mc:Fallback></w:r></w:p></w:body>'
    const { terms } = await readDocument(writeDocxOf(documentXml(LINES).replace('</w:body>', hidden)))
    expect(terms.map(({ term }) => term).toSorted()).toEqual(['engineers', 'inspected', 'station', 'twice'])
  })
})

describe('HTML', () => {
  test('scripts and styles are no text, and 10,000 nested elements are no problem', async () => {
    const inside = '<script>var password = 1</script><style>p {}</style><p>The visible word is here.</p>'
    const html = `<!DOCTYPE html><html>${'<div>'.repeat(10_000)}${inside}${'</div>'.repeat(10_000)}</html>`
    expect(await readDocument(Buffer.from(html))).toMatchObject({ kind: 'html', statistics: { words: 5 } })
  })

  test('more nesting than any page has is refused', async () => {
    expect(await outcomeOf(Buffer.from(`<html>${'<b>'.repeat(30_000)}`))).toBe('DamagedDocument')
  })
})

describe('text', () => {
  test.each([
    ['invalid UTF-8', Buffer.from('Une phrase fran\xe7aise \xe9crite autrefois', 'latin1'), 'windows-1252'],
    ['UTF-16 with a mark', Buffer.from('\ufeffHello there, reader', 'utf16le'), 'utf-16le'],
    ['UTF-16 without a mark', Buffer.from('Hello there, reader', 'utf16le'), 'utf-16le'],
    ['UTF-16, high byte first', Buffer.from('Hello there, reader', 'utf16le').swap16(), 'utf-16be'],
    ['UTF-8 with a mark', Buffer.from('\ufeffHello there, reader'), 'utf-8'],
    ['right to left', Buffer.from('זהו מסמך קצר בעברית על הגשר הישן של העיר'), 'utf-8'],
  ])('%s', async (_, bytes, encoding) => {
    expect(await readDocument(bytes)).toMatchObject({ kind: 'text', encoding })
  })

  test.each([
    ['zeros', Buffer.alloc(5000)],
    ['a zero in a text', Buffer.from('some text\0and more of the text')],
    ['a program', Buffer.from('\x7fELF\x02\x01\x01\0\0\0', 'latin1')],
  ])('%s are no text', async (_, bytes) => {
    expect(await outcomeOf(bytes)).toBe('UnsupportedKind')
  })

  test('a table of a million columns, and one line that is no table', async () => {
    const row = (field: string) => `${field},`.repeat(11_000)
    expect(await outcomeOf(Buffer.from(`${row('a')}\n${row('1')}`))).toBe('DocumentTooLarge')
    expect(await outcomeOf(Buffer.from(row('1').repeat(10)))).toBe('text')
  })

  test('a file past the limit is not read', async () => {
    expect(await outcomeOf(Buffer.from('some text'), { ...LIMITS, bytesMax: 5 })).toBe('DocumentTooLarge')
  })
})

describe('no text is slow to read', () => {
  const signs = [
    'a',
    '1',
    '1.',
    '1 ',
    "1'",
    'a@',
    '@',
    'a@a.',
    '1°',
    "1°1'",
    '12.1234, ',
    '€1',
    '1 de ',
    'ab 1 ',
    '12/12/',
  ]
  const words = ['1 january ', "a'", '"', 'a. ', '中', '😀', '\u0301', '|']
  const marks = ['[', '![', '[a](', '**a ', '`', '> ', '<b', '- a\n']
  const again = (piece: string) => piece.repeat(Math.ceil(60_000 / piece.length))

  // What takes more than linear time takes minutes for these; the limit is far above what a busy machine needs.
  test.each([...signs, ...words])('%j again and again', { timeout: 10_000 }, async (piece) => {
    expect(await outcomeOf(Buffer.from(again(piece)))).toMatch(/^(text|csv)$/)
  })

  test.each(marks)('%j again and again in Markdown', { timeout: 10_000 }, async (piece) => {
    expect(await outcomeOf(Buffer.from(`# A\n\n- b\n\n${again(piece)}`))).toBe('markdown')
  })
})
