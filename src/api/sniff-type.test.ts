import { expect, test } from 'vitest'
import { SNIFFED_BYTES, sniffType } from './sniff-type.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const OCTETS = 'application/octet-stream'

test.each<[string, string | Buffer, string]>([
  ['a.pdf', '%PDF-1.7\n', 'application/pdf'],
  ['a.png', PNG, 'image/png'],
  ['picture.txt', PNG, 'image/png'],
  ['a.txt', 'plain words', 'text/plain'],
  ['noextension', 'plain words\n', 'text/plain'],
  ['empty', '', 'text/plain'],
  ['a.csv', 'a,b\n1,2\n', 'text/csv'],
  ['a.md', '# Title\n', 'text/markdown'],
  ['a.html', '<p>hello', 'text/html'],
  ['a.txt', '  <!DOCTYPE html><html>', 'text/html'],
  ['a.png', '<!-- x --><script>alert(1)</script>', 'text/html'],
  ['a.txt', '<?xml version="1.0"?><svg onload="x">', 'image/svg+xml'],
  ['a', '{"a": [1, 2]}', 'application/json'],
  ['a', '{not json', 'text/plain'],
  ['a.json', '{not json', 'application/json'],
  ['a.xml', '<?xml version="1.0"?><a/>', 'application/xml'],
  ['a.constructor', 'words', 'text/plain'],
  ['a.csv', Buffer.from([0, 1, 2, 3, 0, 0, 0]), OCTETS],
  ['a', Buffer.from([0xc3, 0x28, 0x80]), OCTETS],
  ['a.txt', Buffer.from('\ufeffwords', 'utf16le'), 'text/plain'],
])('%s with %j is seen as %s', async (name, bytes, type) => {
  expect(await sniffType(Buffer.from(bytes as string), name)).toBe(type)
})

test('a character that is cut in two at the end of what is looked at is still text', async () => {
  const text = Buffer.from(`a${'é'.repeat(SNIFFED_BYTES / 2)}`)
  expect(await sniffType(text.subarray(0, SNIFFED_BYTES), 'a')).toBe('text/plain')
})
