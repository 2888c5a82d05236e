import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineReader } from './line-reader.ts'

function linesOf(chunks: Iterable<Buffer>): string[] {
  const lines: string[] = []
  const reader = new LineReader((line) => lines.push(line))
  for (const chunk of chunks) reader.push(chunk)
  reader.flush()
  return lines
}

test('lines come out whole however the bytes are cut', () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\n\r\0]/g, ''))
  fc.assert(
    fc.property(fc.array(line), fc.integer({ min: 1, max: 7 }), (lines, size) => {
      const bytes = Buffer.from(lines.join('\n'))
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      )
      expect(linesOf(chunks)).toEqual(lines.filter((text) => text !== ''))
    }),
  )
})

test('a long line is cut and marked, and the next one is whole', () => {
  const [long, next] = linesOf([Buffer.from('x'.repeat(50_000)), Buffer.from(`${'x'.repeat(9)}\nnext\r\n`)])
  expect(long).toBe(`${'x'.repeat(8192)} … [cut]`)
  expect(next).toBe('next')
})

test('NUL and broken characters are replaced', () => {
  expect(linesOf([Buffer.from([0x61, 0, 0xff, 0x62])])).toEqual(['a��b'])
})
