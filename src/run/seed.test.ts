import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom, seedFromHash } from './seed.ts'

const draw = (count: number, random: () => number) => Array.from({ length: count }, random)

test('property: the seed of a hash is a safe, non-negative integer and depends on the hash alone', () => {
  const hashes = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'))
  fc.assert(
    fc.property(hashes, (hash) => {
      const seed = seedFromHash(hash)
      expect(Number.isSafeInteger(seed) && seed >= 0).toBe(true)
      expect(seedFromHash(hash)).toBe(seed)
    }),
  )
})

test('something that is no hash is refused', () => {
  expect(() => seedFromHash('xyz')).toThrow(RangeError)
})

test('the same seed and stream draw the same numbers, another seed or stream others', () => {
  const numbers = draw(5, seededRandom(42, 1))
  expect(draw(5, seededRandom(42, 1))).toEqual(numbers)
  for (const [seed, stream] of [
    [42, 2],
    [43, 1],
    [42 + 2 ** 32, 1],
    [1, 42],
  ] as const) {
    expect(draw(5, seededRandom(seed, stream))).not.toEqual(numbers)
  }
})

test('the numbers of a seed never change between versions', () => {
  expect(draw(3, seededRandom(1, 1))).toMatchInlineSnapshot(`
    [
      0.6194674935887015,
      0.2385682166766523,
      0.5458914957874422,
    ]
  `)
})

test('property: numbers are in [0, 1)', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger().map(Math.abs), fc.nat(), (seed, stream) => {
      for (const number of draw(20, seededRandom(seed, stream))) expect(number >= 0 && number < 1).toBe(true)
    }),
  )
})

test.each(['one stream', 'the first numbers of neighbouring seeds', 'the first numbers of neighbouring streams'])(
  '%s are uniform',
  (which) => {
    const count = 20_000
    const one = seededRandom(7, 1)
    const sample = {
      'one stream': one,
      'the first numbers of neighbouring seeds': (index: number) => seededRandom(index, 1)(),
      'the first numbers of neighbouring streams': (index: number) => seededRandom(7, index)(),
    }[which] as (index: number) => number
    const buckets = new Array<number>(20).fill(0)
    for (let index = 0; index < count; index++) {
      const bucket = Math.floor(sample(index) * 20)
      buckets[bucket] = (buckets[bucket] as number) + 1
    }
    const chiSquare = buckets.reduce((sum, hits) => sum + (hits - count / 20) ** 2 / (count / 20), 0)
    // With 19 degrees of freedom a fair generator stays below this in all but one of a hundred thousand samples.
    expect(chiSquare).toBeLessThan(55)
  },
)

test.each([
  [-1, 0],
  [0.5, 0],
  [2 ** 53, 0],
  [0, -1],
  [0, Number.NaN],
])('seed %d with stream %d is refused', (seed, stream) => {
  expect(() => seededRandom(seed, stream)).toThrow(RangeError)
})
