/**
 * Makes documents to try the pipeline with: small ones of all kinds that state known facts, duplicates of them under other
 * names, and broken ones. The same options give the same bytes. As a program it writes them to a folder, with a manifest of
 * what is to become of each:
 *
 *     node examples/document-pipeline/make-samples.ts <folder> --count 10000 --duplicates 0.05 --broken 0.01 --seed 1
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from 'holdfast'
import { BROKEN_KINDS, brokenSample, emptySample } from './samples/broken-sample.ts'
import { type GoodSample, goodSample, type SampleKind } from './samples/good-sample.ts'

export type SampleOptions = {
  count: number
  /** Parts of the count, 0 to 1; the numbers made are exact, rounded to whole documents. */
  duplicates?: number
  broken?: number
  seed?: number
}

export type Sample = {
  name: string
  bytes: Buffer
  kind: SampleKind | 'broken'
  expected: 'DONE' | 'ERROR' | 'DUPLICATE'
  /** Of a broken one. */
  errorClass?: string
  /** Of a duplicate: the name its bytes were given first. */
  duplicateOf?: string
  language?: GoodSample['language']
  facts?: GoodSample['facts']
}

/** One at a time, so that any number of them needs little memory. A duplicate comes after what it repeats. */
export function* makeSamples(options: SampleOptions): Generator<Sample> {
  const { count, duplicates = 0, broken = 0, seed = 1 } = options
  const draw = seededRandom(seed, 2 ** 31 - 1)
  const good: number[] = []
  let duplicatesLeft = Math.round(count * duplicates)
  let brokenLeft = Math.round(count * broken)
  let brokenMade = 0
  for (let index = 0; index < count; index++) {
    const left = count - index
    const drawn = draw() * left
    if (brokenLeft > 0 && drawn < brokenLeft) {
      brokenLeft--
      yield brokenOne(seed, index, brokenMade++)
    } else if (duplicatesLeft > 0 && good.length > 0 && drawn < brokenLeft + duplicatesLeft) {
      duplicatesLeft--
      yield duplicate(goodSample(seed, good[Math.floor(draw() * good.length)]!), index)
    } else {
      good.push(index)
      yield { ...goodSample(seed, index), expected: 'DONE' }
    }
  }
}

function duplicate(of: GoodSample, index: number): Sample {
  return { ...of, name: `copy-${index} ${of.name}`, duplicateOf: of.name, expected: 'DUPLICATE' }
}

/** The kinds take turns. */
function brokenOne(seed: number, index: number, turn: number): Sample {
  const kind = turn === 0 ? null : BROKEN_KINDS[(turn - 1) % BROKEN_KINDS.length]!
  const { name, bytes, errorClass } = kind ? brokenSample(kind, `${seed}-${index}`) : emptySample()
  return { name: `broken-${index} ${name}`, bytes, kind: 'broken', expected: 'ERROR', errorClass }
}

async function main(): Promise<void> {
  const number = (name: string) => ({ [name]: { type: 'string' as const } })
  const options = { ...number('count'), ...number('duplicates'), ...number('broken'), ...number('seed') }
  const { values, positionals } = parseArgs({ allowPositionals: true, options })
  const folder = positionals[0]
  if (!folder) throw new Error('say which folder to write the samples to')
  const asked = { count: '100', duplicates: '0.05', broken: '0.01', seed: '1', ...values } as Record<string, string>
  const numbers = Object.fromEntries(Object.entries(asked).map(([name, value]) => [name, Number(value)]))
  const bad = Object.keys(numbers).find((name) => !((numbers[name] ?? -1) >= 0))
  if (bad) throw new Error(`--${bad} must be a number of 0 or more, not ${asked[bad]}`)
  const documents = join(folder, 'documents')
  await mkdir(documents, { recursive: true })
  const manifest: object[] = []
  for (const { bytes, ...about } of makeSamples(numbers as SampleOptions)) {
    await writeFile(join(documents, about.name), bytes)
    manifest.push({ ...about, bytes: bytes.length })
  }
  await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 1)}\n`)
  process.stdout.write(
    `${manifest.length} documents in ${documents}, what becomes of them in manifest.json beside it\n`,
  )
}

if (process.argv[1] === import.meta.filename) await main()
