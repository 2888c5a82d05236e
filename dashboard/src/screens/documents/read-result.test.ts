import { expect, it } from 'vitest'
import { readResult } from './read-result.ts'

it('a document as the pipeline gives it', () => {
  const { text, lines, more } = readResult({
    kind: 'pdf',
    page_count: 1_200,
    isScan: false,
    title: null,
    summary: 'Net rent rose.',
    entities: { amounts: [{ amount: 12.5, currency: 'EUR' }], emails: ['a@b.de', 'c@d.de'], dates: [] },
    terms: Array.from({ length: 20 }, (_, index) => ({ term: `word${index}`, count: index })),
  })
  expect(text).toBe('Net rent rose.')
  expect(lines).toEqual([
    { label: 'Kind', value: 'pdf' },
    { label: 'Page count', value: '1,200' },
    { label: 'Is scan', value: 'no' },
    { label: 'Entities: amounts', value: '12.5 (EUR)' },
    { label: 'Entities: emails', value: 'a@b.de, c@d.de' },
    {
      label: 'Terms',
      value: 'word0 (0), word1 (1), word2 (2), word3 (3), word4 (4), word5 (5), word6 (6), word7 (7) and 12 more',
    },
  ])
  expect(more).toBe(0)
})

it.each([
  [42, '42'],
  ['words', 'words'],
  [null, 'none'],
  [[1, 2], '1, 2'],
])('a result that is no object: %j', (result, value) =>
  expect(readResult(result)).toEqual({ text: null, lines: [{ label: 'Result', value }], more: 0 }),
)

it('what is deep or much is counted, and long texts are cut', () => {
  const deep = readResult({ a: { b: { c: { d: 1 }, e: [1] } }, long: 'x'.repeat(900) })
  expect(deep.lines[0]).toEqual({ label: 'A: b', value: '2 values' })
  expect(deep.lines[1]!.value).toHaveLength(400)
  const many = readResult(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`n${index}`, index])))
  expect([many.lines.length, many.more]).toEqual([24, 6])
})
