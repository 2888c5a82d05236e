/**
 * The conformance suite of the blob port: what every implementation keeps. `open` gives a store over a place of its own for each name,
 * and another one over the same place when asked again.
 */

import { finished } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  BlobDamaged,
  BlobMissing,
  BlobNameRefused,
  BlobRangeRefused,
  type BlobStore,
  type OpenBlob,
  type OpenOptions,
} from '../../src/blob/blob.ts'
import { sha256 } from '../../src/run/canonical.ts'

export type BlobHouse = {
  open(place: string): Promise<BlobStore>
  /** Streams of any size are not for it. */
  isInMemory?: boolean
  /** Fewer random cases where each is a request. */
  randomRuns?: number
}

const MIB = 1_048_576
const LARGE_MB = 96

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (stored: Uint8Array) => new TextDecoder().decode(stored)
const factsOf = (whole: string) => ({ bytes: bytes(whole).length, sha256: sha256(whole) })
const read = async ({ stream }: OpenBlob) => Buffer.concat(await stream.toArray())

async function* pieces(parts: string[], breaks = false) {
  for (const part of parts) yield bytes(part)
  if (breaks) throw new Error('broken off')
}

async function namesOf(store: BlobStore): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of store.list()) names.push(name)
  return names.toSorted()
}

export function keepsTheBlobContract(house: BlobHouse): void {
  let store: BlobStore
  beforeAll(async () => {
    store = await house.open('first')
  })
  describe('putting', () => putting(() => store))
  describe('reading', () => reading(() => store))
  describe('expecting', () => expecting(() => store))
  describe('names', () => naming(() => store, house))
  describe.skipIf(house.isInMemory)('large streams', () => large(() => store))
}

function putting(store: () => BlobStore): void {
  it('gives back the bytes that were put', async () => {
    const { ref } = await store().put('a.a1.json', bytes('{"é":1}'))
    expect(text(await store().get(ref))).toBe('{"é":1}')
  })

  it('tells where the bytes are, how many and their digest, however they came', async () => {
    const expected = { ref: 'artifacts/b.a2.json', ...factsOf('{"é":1}') }
    expect(await store().put('b.a2.json', bytes('{"é":1}'))).toEqual(expected)
    expect(await store().put('b.a2.json', pieces(['{"é"', ':1}']))).toEqual(expected)
  })

  it('keeps an empty blob', async () => {
    for (const empty of [bytes(''), pieces([]), pieces([''])]) {
      const { ref, ...facts } = await store().put('empty', empty)
      expect([facts, (await store().get(ref, factsOf(''))).length]).toEqual([factsOf(''), 0])
    }
  })

  it('keeps bytes that come piece by piece, and nothing of them when they break off', async () => {
    const { ref } = await store().put('pieces', pieces(['one, ', 'two']))
    expect(text(await store().get(ref))).toBe('one, two')
    await expect(store().put('broken', pieces(['one, '], true))).rejects.toThrow('broken off')
    expect(await store().stat('artifacts/broken')).toBeNull()
    expect(await namesOf(store())).not.toContain('broken')
  })

  it('keeps the old bytes when those that were to replace them break off', async () => {
    const { ref } = await store().put('kept', bytes('old'))
    await expect(store().put('kept', pieces(['new'], true))).rejects.toThrow('broken off')
    expect(text(await store().get(ref, factsOf('old')))).toBe('old')
  })

  it('does not change a stored blob when the caller reuses its buffer', async () => {
    const buffer = bytes('before')
    const { ref } = await store().put('reused', buffer)
    buffer.fill(0)
    expect(text(await store().get(ref))).toBe('before')
  })

  it('replaces the bytes when the same name is put again', async () => {
    await store().put('again', bytes('a longer first text'))
    const { ref } = await store().put('again', bytes('second'))
    expect(text(await store().get(ref))).toBe('second')
  })

  it('shows one of the whole texts when the same name is put many times at once', async () => {
    const texts = Array.from({ length: 20 }, (_, i) => `${i}`.repeat(5_000 + i))
    await Promise.all(texts.map((each) => store().put('contested', bytes(each))))
    expect(texts).toContain(text(await store().get('artifacts/contested')))
  })

  it('has nothing after a delete, and deletes twice without complaint', async () => {
    const { ref } = await store().put('short-lived', bytes('x'))
    await store().delete(ref)
    await store().delete(ref)
    await expect(store().get(ref)).rejects.toBeInstanceOf(BlobMissing)
    expect(await store().stat(ref)).toBeNull()
  })
}

function reading(store: () => BlobStore): void {
  it.each([0, 5, 300_000])('gives back %i bytes piece by piece, and their number before', async (length) => {
    const { ref } = await store().put('streamed', Buffer.alloc(length, 'abc'))
    const opened = await store().open(ref)
    expect(opened.size).toBe(length)
    expect((await read(opened)).equals(Buffer.alloc(length, 'abc'))).toBe(true)
  })

  it.each([
    ['the first byte', 0, 0, '0'],
    ['the middle', 3, 5, '345'],
    ['the last byte', 9, 9, '9'],
    ['all', 0, 9, '0123456789'],
    ['more than there is', 7, 1_000, '789'],
  ])('gives a range: %s', async (_, start, end, wanted) => {
    const { ref } = await store().put('ranged', bytes('0123456789'))
    const opened = await store().open(ref, { range: { start, end } })
    expect([opened.size, text(await read(opened))]).toEqual([10, wanted])
  })

  it.each([
    ['beyond the end', '0123456789', 10, 12],
    ['of an empty blob', '', 0, 0],
    ['that ends before it starts', '0123456789', 5, 4],
    ['before the start', '0123456789', -1, 4],
    ['of no number', '0123456789', Number.NaN, 4],
  ])('refuses a range %s', async (_, whole, start, end) => {
    const { ref } = await store().put('ranged', bytes(whole))
    await expect(store().open(ref, { range: { start, end } })).rejects.toBeInstanceOf(BlobRangeRefused)
  })

  it('reads to their end the bytes it opened, though they are replaced or deleted meanwhile', async () => {
    const { ref } = await store().put('moving', bytes('first'))
    const before = await store().open(ref)
    await store().put('moving', bytes('the second'))
    const after = await store().open(ref)
    await store().delete(ref)
    expect([text(await read(before)), text(await read(after))]).toEqual(['first', 'the second'])
  })

  it.each<[string, OpenOptions]>([
    ['as it is', {}],
    ['checked', { expect: { bytes: 300_000, sha256: 'f'.repeat(64) } }],
  ])('lets go of what is not read to its end, %s', async (_, options) => {
    const { ref } = await store().put('abandoned', Buffer.alloc(300_000))
    const { stream } = await store().open(ref, options)
    stream.destroy()
    await finished(stream, { error: false }).catch(() => {})
    expect(stream.closed).toBe(true)
  })

  it('says of what is not there that it is missing', async () => {
    const ref = 'artifacts/nothing.json'
    await expect(store().get(ref)).rejects.toBeInstanceOf(BlobMissing)
    await expect(store().open(ref)).rejects.toBeInstanceOf(BlobMissing)
    await expect(store().open(ref, { range: { start: 0, end: 1 } })).rejects.toBeInstanceOf(BlobMissing)
    expect(await store().stat(ref)).toBeNull()
  })

  it('tells the size and age of a blob', async () => {
    const before = Date.now()
    const { ref } = await store().put('aged', bytes('12345'))
    const found = await store().stat(ref)
    expect(found?.bytes).toBe(5)
    // Whole seconds are all that some stores keep.
    expect(found?.modifiedAt.getTime()).toBeGreaterThan(before - 2_000)
    expect(found?.modifiedAt.getTime()).toBeLessThan(Date.now() + 2_000)
  })
}

function expecting(store: () => BlobStore): void {
  const WHOLE = 'the bytes as they were stored'

  it('gives bytes that are as expected', async () => {
    const { ref, ...facts } = await store().put('expected', bytes(WHOLE))
    expect(text(await store().get(ref, facts))).toBe(WHOLE)
    expect(text(await read(await store().open(ref, { expect: facts })))).toBe(WHOLE)
    const range = { start: 4, end: 8 }
    expect(text(await read(await store().open(ref, { expect: facts, range })))).toBe('bytes')
  })

  it('refuses bytes of another number, at once', async () => {
    const { ref, ...facts } = await store().put('cut-off', bytes(WHOLE))
    await store().put('cut-off', bytes(WHOLE.slice(0, -1)))
    await expect(store().get(ref, facts)).rejects.toBeInstanceOf(BlobDamaged)
    await expect(store().open(ref, { expect: facts })).rejects.toBeInstanceOf(BlobDamaged)
    await expect(store().open(ref, { expect: facts, range: { start: 0, end: 1 } })).rejects.toBeInstanceOf(BlobDamaged)
  })

  it.each([29, 300_000])('never delivers %i bytes of which one has changed as whole', async (length) => {
    const { ref, ...facts } = await store().put('changed', Buffer.alloc(length, 'a'))
    await store().put('changed', Buffer.concat([Buffer.alloc(length - 1, 'a'), Buffer.from('b')]))
    await expect(store().get(ref, facts)).rejects.toBeInstanceOf(BlobDamaged)
    const { stream } = await store().open(ref, { expect: facts })
    let delivered = 0
    stream.on('data', (piece: Buffer) => {
      delivered += piece.length
    })
    await expect(finished(stream)).rejects.toBeInstanceOf(BlobDamaged)
    expect(delivered).toBeLessThan(length)
  })
}

function naming(store: () => BlobStore, { open, randomRuns = 100 }: BlobHouse): void {
  it.each(['', '.', '..', '.hidden', 'a/b', '../a', 'a\\b', 'a\0', 'a b', 'é', 'x'.repeat(201)])(
    'refuses the name %j',
    async (name) => {
      await expect(store().put(name, bytes('x'))).rejects.toBeInstanceOf(BlobNameRefused)
    },
  )

  it('follows no reference of another shape', async () => {
    const odd = ['artifacts/', 'artifacts/.holdfast-folder', 'a.a1.json', '/etc/passwd', 'artifacts//a', 'Artifacts/a']
    const strange = fc.oneof(
      fc.string(),
      fc.string().map((tail) => `artifacts/../${tail}`),
      fc.constantFrom(...odd),
    )
    await fc.assert(
      fc.asyncProperty(strange, async (ref) => {
        for (const verb of ['get', 'open', 'stat', 'delete'] as const)
          await expect(store()[verb](ref)).rejects.toBeInstanceOf(BlobNameRefused)
      }),
      { numRuns: randomRuns },
    )
  })

  it('lists every blob with its size and age, and nothing else', async () => {
    const other = await open('listed')
    await Promise.all([other.put('one', bytes('1')), other.put('two', pieces(['2', '2'])), other.identity()])
    await other.put('three', pieces(['3'], true)).catch(() => {})
    const found: [string, number][] = []
    for await (const { name, bytes, modifiedAt } of other.list()) {
      found.push([name, bytes])
      expect(modifiedAt).toEqual((await other.stat(`artifacts/${name}`))?.modifiedAt)
    }
    expect(found.toSorted()).toEqual([
      ['one', 1],
      ['two', 2],
    ])
  })

  it('keeps its identity, also for others that look at the same place at once', async () => {
    const others = await Promise.all(Array.from({ length: 5 }, () => open('place')))
    const ids = await Promise.all(others.map((other) => other.identity()))
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/)
    expect(ids.every((id) => id === ids[0])).toBe(true)
    expect(await others[0]!.identity()).toBe(ids[0])
  })
}

/** Of what is not garbage: that would only tell when it was last collected. */
function large(store: () => BlobStore): void {
  it(`takes and gives ${LARGE_MB} MB with a part of them in memory`, async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    let most = 0
    let passed = 0
    const pass = (bytes: number) => {
      passed += bytes
      if (passed % (8 * MIB) > 65_536) return
      collect()
      most = Math.max(most, process.memoryUsage().arrayBuffers)
    }
    async function* stream() {
      for (let sent = 0; sent < LARGE_MB * 16; sent += 1) {
        yield Buffer.alloc(65_536, sent)
        pass(65_536)
      }
    }
    pass(0)
    const before = most
    const { ref, ...facts } = await store().put('large', stream())
    expect(facts.bytes).toBe(LARGE_MB * MIB)
    const opened = await store().open(ref, { expect: facts })
    for await (const piece of opened.stream) pass(piece.length)
    expect(passed).toBe(2 * facts.bytes)
    await store().delete(ref)
    expect((most - before) / MIB).toBeLessThan(LARGE_MB / 2)
  })
}
