/** What the samples state is what the pipeline finds, and what is broken in them is what it says. */

import { describe, expect, test } from 'vitest'
import { makeSamples } from './make-samples.ts'
import { RefusedDocument } from './refused-document.ts'
import { BROKEN_KINDS, brokenSample, emptySample, zipBomb } from './samples/broken-sample.ts'
import { outcomeOf, readDocument } from './samples/read-document.ts'

const RESULT_BYTES_MAX = 64 * 1024

test('every fact of every sample is found, and nothing else', async () => {
  const wrong: unknown[] = []
  const kinds = new Set<string>()
  for (const { name, kind, bytes, language, facts } of makeSamples({ count: 40, seed: 11 })) {
    const result = await readDocument(bytes)
    kinds.add(kind)
    const { date, amount, email, place } = facts!
    const expected = {
      kind,
      language: kind === 'csv' ? result.language : language,
      dates: [date.iso],
      amounts: [[amount.currency, amount.value]],
      emails: [email],
      places: [[place.latitude, place.longitude]],
    }
    const found = {
      kind: result.kind,
      language: result.language,
      dates: result.entities.dates.map((one) => one.date),
      amounts: result.entities.amounts.map((one) => [one.currency, one.value]),
      emails: result.entities.emails,
      places: result.places.map((one) => [one.latitude, one.longitude]),
    }
    if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push({ name, found, expected })
  }
  expect(wrong).toEqual([])
  expect(kinds.size).toBe(6)
})

test('equal documents give equal results, and keep the text to themselves', async () => {
  const [sample] = makeSamples({ count: 1, seed: 4 })
  const result = await readDocument(sample!.bytes)
  expect(await readDocument(sample!.bytes)).toEqual(result)
  expect(result).not.toHaveProperty('text')
  expect(result.summary.length).toBeGreaterThan(20)
  expect(result.statistics).toMatchObject({ words: expect.any(Number), sentences: expect.any(Number) })
})

describe('a broken document ends with its own error, which is never retried', () => {
  test.each(BROKEN_KINDS)('%s', async (kind) => {
    const { bytes, errorClass } = brokenSample(kind, 'salt')
    const error = await readDocument(bytes).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(RefusedDocument)
    expect(error.name).toBe(errorClass)
    expect(error.message).toMatch(/; |\?$/)
  })

  test('an empty file', async () => {
    expect(await outcomeOf(emptySample().bytes)).toBe('EmptyDocument')
  })

  test('a gigabyte of zeros, whether the archive says so or not', async () => {
    expect(await outcomeOf(zipBomb('x', true, 1024))).toBe('ZipBomb')
    expect(await outcomeOf(zipBomb('x', false, 1024))).toBe('ZipBomb')
  })
})

test('a result is small whatever the document holds', async () => {
  const lines = Array.from({ length: 2500 }, (_, n) => {
    const day = String((n % 28) + 1).padStart(2, '0')
    const local = `${n}${'x'.repeat(58)}`
    const domain = `${'y'.repeat(60)}.${'z'.repeat(60)}.example`
    const word = `${'語'.repeat(3)}${'ü'.repeat(61)}${n}`
    const found = `EUR ${n}.50 ${local}@${domain} ${n % 90}.12345, ${n % 180}.54321 ${word}`
    return `2${String(n).padStart(3, '0').slice(0, 3)}-01-${day} ${found}`
  })
  const result = await readDocument(Buffer.from(lines.join('\n')))
  expect(result.places).toHaveLength(100)
  expect(result.warnings).toContain('only the first part was read; the rest is past the limits')
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(RESULT_BYTES_MAX)
})
