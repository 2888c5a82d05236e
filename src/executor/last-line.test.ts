import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LastLine } from './last-line.ts'

function lastOf(text: string, cuts: number[], bytesMax = 1_000): string | 'too long' | null {
  const line = new LastLine(bytesMax)
  const bytes = Buffer.from(text)
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  places.slice(1).forEach((end, index) => {
    line.push(bytes.subarray(places[index], end))
  })
  const read = line.read()
  return read === null ? null : read.tooLong ? 'too long' : read.bytes.toString()
}

test('however the stream is cut, it is the last line that is not blank', () => {
  const pieces = fc.array(fc.constantFrom('a', ' ', '\n', '\r\n', '\t', 'bc'), { maxLength: 40 })
  fc.assert(
    fc.property(pieces, fc.array(fc.nat(80), { maxLength: 6 }), (texts, cuts) => {
      const text = texts.join('')
      const expected = text.split('\n').findLast((line) => line.trim() !== '')
      expect(lastOf(text, cuts)?.trim()).toBe(expected?.trim())
    }),
  )
})

test('a line over the limit is known as such, and forgotten with the next line', () => {
  expect(lastOf('x'.repeat(11), [], 10)).toBe('too long')
  expect(lastOf(`${'x'.repeat(11)}\n\n`, [3, 5], 10)).toBe('too long')
  expect(lastOf(`${'x'.repeat(11)}\nshort`, [3, 5], 10)).toBe('short')
})
