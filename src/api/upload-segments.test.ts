/** Segments: the bytes of a body, none lost and none twice, however it is cut and however it ends. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allOf } from '../../test/support/all-of.ts'
import { segmentsOf } from './upload-segments.ts'

async function* pieces(list: Uint8Array[], end?: Error): AsyncGenerator<Uint8Array> {
  for (const piece of list) yield piece
  if (end) throw end
}

async function collected(body: AsyncIterable<Uint8Array>, limits = { bytes: 4, ms: 60_000 }, bytesMax = 1_000) {
  const source = segmentsOf(body, limits)
  const segments: Buffer[] = []
  while (await source.hasMore()) segments.push(Buffer.concat(await allOf(source.next(bytesMax))))
  return { segments, broken: source.broken() }
}

test('together they are the body, each full but the last', async () => {
  const list = fc.array(fc.uint8Array({ maxLength: 10 }), { maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(list, fc.integer({ min: 1, max: 7 }), async (body, bytes) => {
      const { segments, broken } = await collected(pieces(body), { bytes, ms: 60_000 })
      expect(Buffer.concat(segments)).toEqual(Buffer.concat(body))
      for (const segment of segments.slice(0, -1)) expect(segment.length).toBe(bytes)
      for (const segment of segments) expect(segment.length).toBeGreaterThan(0)
      expect(broken).toBeUndefined()
    }),
  )
})

test('what came before the body broke is kept, and the reason told', async () => {
  const end = new Error('cut off')
  const { segments, broken } = await collected(pieces([Buffer.from('abcdef')], end))
  expect(segments.map(String)).toEqual(['abcd', 'ef'])
  expect(broken).toBe(end)
})

test('a body that breaks at once has no segment', async () => {
  const end = new Error('cut off')
  expect(await collected(pieces([], end))).toEqual({ segments: [], broken: end })
})

test('a slow body is cut after a while', async () => {
  const { segments } = await collected(pieces([Buffer.from('ab'), Buffer.from('c')]), { bytes: 100, ms: -1 })
  expect(segments.map(String)).toEqual(['ab', 'c'])
})

test('a segment is no longer than it may be', async () => {
  const { segments } = await collected(pieces([Buffer.from('abcdef')]), { bytes: 100, ms: 60_000 }, 5)
  expect(segments.map(String)).toEqual(['abcde', 'f'])
})
