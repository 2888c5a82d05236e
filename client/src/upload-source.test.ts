import { expect, test } from 'vitest'
import { sourceOf } from './upload-source.ts'

const text = async (data: Blob | Uint8Array) => (data instanceof Blob ? data.text() : new TextDecoder().decode(data))
const bytes = (letters: string) => new TextEncoder().encode(letters)

async function* pieces(...letters: string[]) {
  for (const piece of letters) yield bytes(piece)
}

test('a file has its own name, type and version; options go before them', async () => {
  const file = new File(['hello'], 'a.txt', { type: 'text/plain', lastModified: 7 })
  expect(sourceOf(file, {})).toMatchObject({ name: 'a.txt', size: 5, type: 'text/plain', version: '7' })
  expect(sourceOf(file, { name: 'b.txt', type: 'text/css' })).toMatchObject({ name: 'b.txt', type: 'text/css' })
  expect(await text(await sourceOf(file, {}).read(1, 4))).toBe('ell')
})

test('what has no name of its own needs one', () => {
  expect(() => sourceOf(bytes('x'), {})).toThrow('an upload needs a name')
  expect(sourceOf(bytes('x'), { name: 'x.bin' })).toMatchObject({ size: 1, type: null, version: null })
})

test('a stream is read in pieces of any size, and the last piece again from anywhere in it', async () => {
  for (const stream of [pieces('ab', 'cdefg', '', 'h'), ReadableStream.from(pieces('ab', 'cdefg', 'h'))]) {
    const source = sourceOf(stream, { name: 's', size: 8 })
    expect(await text(await source.read(0, 3))).toBe('abc')
    expect(await text(await source.read(0, 3))).toBe('abc')
    expect(await text(await source.read(2, 5))).toBe('cde')
    expect(await text(await source.read(5, 8))).toBe('fgh')
    await expect(source.read(0, 3)).rejects.toThrow('read past the place')
  }
})

test('a stream that is longer or shorter than was said is not uploaded as if it were not', async () => {
  await expect(sourceOf(pieces('abc'), { name: 's', size: 5 }).read(0, 5)).rejects.toThrow('ended after 3 bytes')
  await expect(sourceOf(pieces('abc'), { name: 's', size: 2 }).read(0, 2)).rejects.toThrow('goes on after the 2 bytes')
  expect(() => sourceOf(pieces('abc'), { name: 's' })).toThrow('`size`')
})
