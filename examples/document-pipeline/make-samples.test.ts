import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeSamples, type SampleOptions } from './make-samples.ts'

const OPTIONS: SampleOptions = { count: 300, duplicates: 0.05, broken: 0.1, seed: 7 }
const samples = [...makeSamples(OPTIONS)]
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test('the same options give the same documents, another seed gives others', () => {
  const digests = (options: SampleOptions) => [...makeSamples(options)].map(({ bytes }) => digest(bytes))
  expect(digests({ ...OPTIONS, count: 30 })).toEqual(digests({ ...OPTIONS, count: 30 }))
  expect(digests({ ...OPTIONS, count: 30 })).not.toEqual(digests({ ...OPTIONS, count: 30, seed: 8 }))
})

test('there are exactly as many duplicates and broken ones as asked for', () => {
  const counts = Object.groupBy(samples, ({ expected }) => expected)
  expect([counts.DONE?.length, counts.DUPLICATE?.length, counts.ERROR?.length]).toEqual([255, 15, 30])
})

test('no two documents have the same bytes but duplicates, which come after what they repeat', () => {
  const first = new Map<string, string>()
  for (const { bytes, name, expected, duplicateOf } of samples) {
    const key = digest(bytes)
    expect(first.has(key)).toBe(expected === 'DUPLICATE')
    if (expected === 'DUPLICATE') expect(first.get(key)).toBe(duplicateOf)
    else first.set(key, name)
  }
})

test('names differ and fit a file system', () => {
  const names = samples.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => Buffer.byteLength(name) > 255 || /[/\0]/.test(name))).toEqual([])
})
