import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalText } from './canonical.ts'
import { payloadHash, resultHash } from './payload-hash.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const input = { model: 'forecast', modelVersion: '1', parameters: { b: 1, a: [2] }, ignoreInHash: [] as string[] }

test('the payload hash is the SHA-256 of the canonical model, version and parameters', () => {
  expect(payloadHash(input)).toBe(sha256('{"model":"forecast","model_version":"1","parameters":{"a":[2],"b":1}}'))
})

test('property: it is the hash of the canonical form of the three together', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.jsonValue({ maxDepth: 2 }), (model, modelVersion, parameters) => {
      const whole = canonicalText({ parameters, model_version: modelVersion, model })
      const asked = { model, modelVersion, parameters, ignoreInHash: [] }
      expect(payloadHash(asked)).toBe(sha256(whole))
      expect(payloadHash({ ...asked, parametersText: canonicalText(parameters) })).toBe(sha256(whole))
    }),
  )
})

test('the text of all parameters is not hashed where some of them are left out', () => {
  const ignoring = { ...input, ignoreInHash: ['b'] }
  expect(payloadHash({ ...ignoring, parametersText: canonicalText(input.parameters) })).toBe(payloadHash(ignoring))
})

test('1, 1.0 and 1e0, and 0 and -0, have the same hash', () => {
  const hashOf = (text: string) => payloadHash({ ...input, parameters: JSON.parse(text) })
  expect(new Set(['{"n":1,"z":0}', '{"n":1.0,"z":-0}', '{"z":0e0,"n":1e0}'].map(hashOf)).size).toBe(1)
})

test('model, version and each parameter count', () => {
  const variants = [
    input,
    { ...input, model: 'other' },
    { ...input, modelVersion: '2' },
    { ...input, parameters: { a: [2], b: 2 } },
    { ...input, parameters: { a: [2], b: '1' } },
    { ...input, parameters: { a: [2], b: 1, c: null } },
  ]
  expect(new Set(variants.map(payloadHash)).size).toBe(variants.length)
})

test('R149: ignored top-level names are left out, and only at the top', () => {
  const ignoreInHash = ['requested_at', 'missing']
  const plain = payloadHash({ ...input, ignoreInHash })
  expect(payloadHash({ ...input, parameters: { ...input.parameters, requested_at: 'now' }, ignoreInHash })).toBe(plain)
  expect(
    payloadHash({ ...input, parameters: { ...input.parameters, in: { requested_at: 1 } }, ignoreInHash }),
  ).not.toBe(payloadHash({ ...input, parameters: { ...input.parameters, in: {} }, ignoreInHash }))
})

test('hashing leaves the parameters as they are', () => {
  const parameters = { a: 1, skip: 2 }
  payloadHash({ ...input, parameters, ignoreInHash: ['skip'] })
  expect(parameters).toEqual({ a: 1, skip: 2 })
})

test('parameters may use the whole depth limit', () => {
  const parameters = JSON.parse('['.repeat(64) + ']'.repeat(64))
  expect(payloadHash({ ...input, parameters })).toMatch(/^[0-9a-f]{64}$/)
})

test('a result without volatile names is hashed as it stands', () => {
  expect(resultHash('{"a":1}', [])).toBe(sha256('{"a":1}'))
})

test.each([
  ['a name at the top', ['run_id'], '{"metrics":{"objective":2,"runtime_seconds":3}}'],
  ['a name reached by a dot', ['metrics.runtime_seconds'], '{"metrics":{"objective":2},"run_id":"r"}'],
  ['a whole object', ['metrics'], '{"run_id":"r"}'],
  [
    'names that lead nowhere',
    ['x', 'run_id.y', 'metrics.z.q', '__proto__.a'],
    '{"metrics":{"objective":2,"runtime_seconds":3},"run_id":"r"}',
  ],
])('the result hash leaves out %s', (_what, volatile, left) => {
  expect(resultHash('{"metrics":{"objective":2,"runtime_seconds":3},"run_id":"r"}', volatile)).toBe(sha256(left))
})

test('a volatile name that holds a dot itself is left out too', () => {
  expect(resultHash('{"a.b":1,"c":2}', ['a.b'])).toBe(sha256('{"c":2}'))
})

test('a result that is no object has no names to leave out', () => {
  expect(resultHash('[1]', ['a'])).toBe(sha256('[1]'))
})
