/** The conformance suite of the blob port, run over every implementation. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BlobMissing, BlobNameRefused, type BlobStore, type OpenBlob } from './blob.ts'
import { createDiskBlobStore } from './disk.ts'
import { createMemoryBlobStore } from './memory.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (stored: Uint8Array) => new TextDecoder().decode(stored)

describe.each([
  { name: 'memory', open: async (_folder: string): Promise<BlobStore> => createMemoryBlobStore() },
  { name: 'disk', open: (folder: string) => createDiskBlobStore({ folder }) },
])('a blob store ($name)', ({ open }) => {
  let folder: string
  let store: BlobStore

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-blob-'))
    store = await open(join(folder, 'somewhere', 'results'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('gives back the bytes that were put', async () => {
    const { ref } = await store.put('a.a1.json', bytes('{"é":1}'))
    expect(text(await store.get(ref))).toBe('{"é":1}')
  })

  it('refers to a blob as artifacts/<name>, wherever the bytes lie', async () => {
    expect(await store.put('b.a2.json', bytes('1'))).toEqual({ ref: 'artifacts/b.a2.json' })
  })

  it('keeps an empty blob', async () => {
    const { ref } = await store.put('empty', bytes(''))
    expect((await store.get(ref)).length).toBe(0)
  })

  it('keeps bytes that come piece by piece, and nothing of them when they break off', async () => {
    async function* pieces(breaks: boolean) {
      yield bytes('one, ')
      if (breaks) throw new Error('broken off')
      yield bytes('two')
    }
    const { ref } = await store.put('pieces', pieces(false))
    expect(text(await store.get(ref))).toBe('one, two')
    await expect(store.put('broken', pieces(true))).rejects.toThrow('broken off')
    await expect(store.get('artifacts/broken')).rejects.toThrow(BlobMissing)
  })

  const read = async ({ stream }: OpenBlob) => Buffer.concat(await stream.toArray())

  it.each([0, 5, 300_000])('gives back %i bytes piece by piece, and their number before', async (length) => {
    const { ref } = await store.put('streamed', Buffer.alloc(length, 'abc'))
    const opened = await store.open(ref)
    expect(opened.size).toBe(length)
    expect((await read(opened)).equals(Buffer.alloc(length, 'abc'))).toBe(true)
  })

  it('reads to their end the bytes it opened, though they are replaced or deleted meanwhile', async () => {
    const { ref } = await store.put('moving', bytes('first'))
    const before = await store.open(ref)
    await store.put('moving', bytes('the second'))
    const after = await store.open(ref)
    await store.delete(ref)
    expect([text(await read(before)), text(await read(after))]).toEqual(['first', 'the second'])
  })

  it('lets go of what is not read to its end', async () => {
    const { ref } = await store.put('abandoned', bytes('x'))
    const { stream } = await store.open(ref)
    stream.destroy()
    await finished(stream, { error: false }).catch(() => {})
    expect(stream.closed).toBe(true)
  })

  it('opens nothing that is not there', async () => {
    await expect(store.open('artifacts/nothing.json')).rejects.toBeInstanceOf(BlobMissing)
  })

  it('does not change a stored blob when the caller reuses its buffer', async () => {
    const buffer = bytes('before')
    const { ref } = await store.put('reused', buffer)
    buffer.fill(0)
    expect(text(await store.get(ref))).toBe('before')
  })

  it('replaces the bytes when the same name is put again', async () => {
    await store.put('again', bytes('a longer first text'))
    const { ref } = await store.put('again', bytes('second'))
    expect(text(await store.get(ref))).toBe('second')
  })

  it('shows one of the whole texts when the same name is put many times at once', async () => {
    const texts = Array.from({ length: 20 }, (_, i) => `${i}`.repeat(5_000 + i))
    await Promise.all(texts.map((each) => store.put('contested', bytes(each))))
    expect(texts).toContain(text(await store.get('artifacts/contested')))
  })

  it('rejects with BlobMissing when the reference leads nowhere', async () => {
    await expect(store.get('artifacts/nothing.json')).rejects.toBeInstanceOf(BlobMissing)
  })

  it('has nothing after a delete, and deletes twice without complaint', async () => {
    const { ref } = await store.put('short-lived', bytes('x'))
    await store.delete(ref)
    await store.delete(ref)
    await expect(store.get(ref)).rejects.toBeInstanceOf(BlobMissing)
  })

  it.each(['', '.', '..', '.hidden', 'a/b', '../a', 'a\\b', 'a\0', 'a b', 'é', 'x'.repeat(201)])(
    'refuses the name %j',
    async (name) => {
      await expect(store.put(name, bytes('x'))).rejects.toBeInstanceOf(BlobNameRefused)
    },
  )

  it('follows no reference of another shape', async () => {
    const strange = fc.oneof(
      fc.string(),
      fc.string().map((tail) => `artifacts/../${tail}`),
      fc.constantFrom(
        'artifacts/',
        'artifacts/.holdfast-folder',
        'a.a1.json',
        '/etc/passwd',
        'artifacts//a',
        'Artifacts/a',
      ),
    )
    await fc.assert(
      fc.asyncProperty(strange, async (ref) => {
        await expect(store.get(ref)).rejects.toBeInstanceOf(BlobNameRefused)
        await expect(store.open(ref)).rejects.toBeInstanceOf(BlobNameRefused)
        await expect(store.delete(ref)).rejects.toBeInstanceOf(BlobNameRefused)
      }),
    )
  })

  it('names every blob and nothing else', async () => {
    const other = await open(join(folder, 'named'))
    await Promise.all([other.put('one', bytes('1')), other.put('two', bytes('2')), other.identity()])
    const names: string[] = []
    for await (const name of other.names()) names.push(name)
    expect(names.toSorted()).toEqual(['one', 'two'])
  })

  it('keeps its identity', async () => {
    const ids = await Promise.all([store.identity(), store.identity(), store.identity()])
    expect(new Set(ids).size).toBe(1)
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/)
  })
})
