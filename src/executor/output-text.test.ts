import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OutputText } from './output-text.ts'

function printed(chunks: Buffer[], options: { hidden?: string[]; bytesMax?: number } = {}): string[] {
  const pieces: string[] = []
  const emit = (text: string) => pieces.push(text)
  const output = new OutputText({ emit, hidden: options.hidden ?? [], bytesMax: options.bytesMax ?? 10_000 })
  for (const chunk of chunks) output.push(chunk)
  output.end()
  return pieces
}

test('text goes out as it comes', () => {
  expect(printed([Buffer.from('half a '), Buffer.from('line')])).toEqual(['half a ', 'line'])
})

test('a character cut in two is one, and what is no character is replaced', () => {
  expect(printed([Buffer.from([0xc3]), Buffer.from([0xbc, 0x00, 0xff])]).join('')).toBe('ü\uFFFD\uFFFD')
})

test('a secret is hidden however it is cut', () => {
  const text = 'abab secret-abab secretsecret-ab'
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), text.length]
      const chunks = places.slice(1).map((end, index) => Buffer.from(text.slice(places[index], end)))
      expect(printed(chunks, { hidden: ['secret-ab'] }).join('')).toBe('abab [redacted]ab secret[redacted]')
    }),
  )
})

test('beyond the limit nothing is decoded, and a line says so once', () => {
  const flood = Array.from({ length: 100 }, () => Buffer.alloc(1_000, 'x'))
  const text = printed(flood, { bytesMax: 2_500 }).join('')
  expect(text).toMatch(/^x{2500}\n\[what follows is left out: more than 2500 bytes were printed\]\n$/)
})

test('as much as the limit allows is whole', () => {
  expect(printed([Buffer.alloc(2_500, 'x')], { bytesMax: 2_500 }).join('')).toHaveLength(2_500)
})
