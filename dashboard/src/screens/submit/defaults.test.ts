import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blankOf, branchOf, withDefaults } from './defaults.ts'
import type { Schema } from './schema.ts'

const ajv = new Ajv2020({
  useDefaults: true,
  strict: false,
  allErrors: true,
  logger: false,
  validateSchema: false,
  addUsedSchema: false,
})

/** As the service has it. */
function asService(value: unknown, schema: Schema): unknown {
  const copy = structuredClone(value)
  ajv.compile(schema)(copy)
  return copy
}

test('defaults are those that the service fills in', () => {
  const schema: Schema = {
    type: 'object',
    properties: {
      months: { type: 'integer', default: 24 },
      limits: { type: 'object', default: {}, properties: { floor: { type: 'number', default: 0 } } },
      absent: { type: 'object', properties: { inner: { default: 1 } } },
      place: { $ref: '#/$defs/place', default: {} },
      rows: { type: 'array', default: [{}], items: { type: 'object', properties: { n: { default: 3 } } } },
      either: { default: {}, anyOf: [{ type: 'object', properties: { no: { default: 1 } } }] },
      nothing: { type: ['string', 'null'], default: null },
    },
    allOf: [{ properties: { more: { default: 'x' } } }],
    $defs: { place: { type: 'object', properties: { zoom: { default: 2 } }, default: { zoom: 9 } } },
  }
  for (const value of [{}, { months: 1, absent: {}, rows: [{ n: 1 }, {}] }, { limits: { floor: 5 }, unknown: true }]) {
    expect(withDefaults(value, schema, schema)).toEqual(asService(value, schema))
  }
})

test('for any schema of properties, items and references', () => {
  const leaf = fc.record({ type: fc.constant('integer'), default: fc.integer() }, { requiredKeys: [] })
  const { node } = fc.letrec<{ node: Schema }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      leaf as fc.Arbitrary<Schema>,
      fc.record(
        {
          properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('node')),
          default: fc.constant('{}').map((text) => JSON.parse(text)),
        },
        {
          requiredKeys: ['properties'],
        },
      ) as fc.Arbitrary<Schema>,
      fc.record({ items: tie('node') }) as fc.Arbitrary<Schema>,
      fc.record({ allOf: fc.tuple(tie('node')) }) as fc.Arbitrary<Schema>,
      fc.constant<Schema>({ $ref: '#/$defs/shared' }),
    ),
  }))
  const root = fc.record({
    properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), node),
    $defs: fc.constant({ shared: { properties: { s: { default: 1 } } } }),
  })
  const inner = fc.oneof(
    fc.constantFrom('{}', '[{}]').map((text) => JSON.parse(text)),
    fc.integer(),
  )
  const value = fc.dictionary(fc.constantFrom('a', 'b', 'x'), inner)
  fc.assert(
    fc.property(root, value, (schema, given) => {
      expect(withDefaults(given, schema, schema)).toEqual(asService(given, schema))
    }),
    { numRuns: 25 },
  )
})

test('a new item begins with something that can be edited', () => {
  const blank = (schema: Schema) => blankOf(schema, schema)
  expect(blank({ type: 'string' })).toBe('')
  expect(blank({ type: 'integer', minimum: 5 })).toBe(5)
  expect(blank({ enum: ['b', 'a'] })).toBe('b')
  expect(blank({ type: 'string', default: 'x' })).toBe('x')
  const source = { properties: { kind: { const: 'web' }, url: { type: 'string' }, tries: { default: 3 } } }
  expect(blank(source)).toEqual({ kind: 'web', tries: 3 })
  expect(blank({ anyOf: [source, { type: 'string' }] })).toEqual({ kind: 'web', tries: 3 })
  expect(blank({ $ref: '#' })).toBeNull()
})

test('the branch of a value is found by its type, its constants or its names', () => {
  const file = { schema: { type: 'object', properties: { kind: { const: 'file' } }, required: ['kind'] } }
  const web = { schema: { type: 'object', properties: { kind: { const: 'web' } }, required: ['kind'] } }
  const text = { schema: { type: 'string' } }
  const number = { schema: { type: 'integer' } }
  const all = [file, web, text, number]
  const found = [{ kind: 'file' }, { kind: 'web', x: 1 }, 'x', 3, true, 1.5].map((value) => branchOf(value, all, {}))
  expect(found).toEqual([0, 1, 2, 3, -1, -1])
  const byName = [
    { schema: { properties: { a: {} }, required: ['a'] } },
    { schema: { properties: { b: {} }, required: ['b'] } },
  ]
  expect(branchOf({ b: 1 }, byName, {})).toBe(1)
})
