/** Whatever is in a file, reading it ends with models or with problems that have a place in it. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { yamlModelsOf } from './yaml-models.ts'

const GOOD = `models:
  - name: price
    version: "1"
    parameters: {type: object, properties: {n: {type: integer, default: 1}}}
    command: [python3, "model.py"]
    environment: {MODE: fast}
    retry: {max_attempts: 2}
    volatile: [metrics.seconds]
`

function check(text: string): void {
  const { models, problems } = yamlModelsOf(new TextEncoder().encode(text), '/')
  expect(models.length === 0).toBe(problems.length > 0)
  const lines = text.split(/\r\n|\n/).length
  for (const { line, column, detail } of problems) {
    expect(line).toBeGreaterThanOrEqual(1)
    expect(line).toBeLessThanOrEqual(lines)
    expect(column).toBeGreaterThanOrEqual(1)
    expect(detail).not.toBe('')
  }
}

test('any text', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), check), { numRuns: 300 })
})

test('a good file with a piece cut out, repeated or replaced', () => {
  const piece = fc.tuple(
    fc.nat(GOOD.length),
    fc.nat(30),
    fc.constantFrom('', '&a ', '*a', '{', '[', ']', '\t', '!!x ', 'no', '"', '- ', '? ', '\0', ': '),
  )
  fc.assert(
    fc.property(piece, ([at, length, put]) => check(GOOD.slice(0, at) + put + GOOD.slice(at + length))),
    { numRuns: 500 },
  )
})

test('any JSON', () => {
  fc.assert(
    fc.property(fc.json(), (text) => check(text)),
    { numRuns: 300 },
  )
})
