import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { hashInPieces, Sha256, sha256Of } from './sha256.ts'

const expected = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const bytesOf = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) & 0xff)

test('it is SHA-256 for every length around the borders of a block, in whatever pieces the bytes come', () => {
  for (const length of [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1_000, 4_099]) {
    const bytes = bytesOf(length)
    for (const piece of [1, 7, 64, 100_000]) {
      const hash = new Sha256()
      for (let from = 0; from < length; from += piece) hash.update(bytes.subarray(from, from + piece))
      expect(hash.digest(), `${length} bytes in pieces of ${piece}`).toBe(expected(bytes))
    }
  }
})

test('a file is hashed with progress, and the same with and without the digest of the platform', async () => {
  const bytes = bytesOf(3 * 1024 * 1024 + 5)
  const seen: number[] = []
  expect(await sha256Of(bytes)).toBe(expected(bytes))
  expect(await hashInPieces(new Blob([bytes]), { onProgress: (hashed) => seen.push(hashed) })).toBe(expected(bytes))
  expect(seen).toEqual([1_048_576, 2_097_152, 3_145_728, 3_145_733])
})
