import { describe, expect, test } from 'vitest'
import { schemaProblems } from './schema-problems.ts'

const withProperty = (property: unknown) => ({ type: 'object', properties: { n: property } })

test('a schema that uses most of the standard is accepted', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://example.org/forecast',
    type: 'object',
    required: ['region'],
    additionalProperties: false,
    'x-note': 'for people',
    $defs: { region: { $anchor: 'region', type: 'string', pattern: '^[a-z]+$' } },
    properties: {
      region: { $ref: '#/$defs/region' },
      other: { $ref: '#region', default: 'north' },
      months: { type: 'integer', minimum: 1, maximum: 600, default: 24 },
      at: { type: 'string', format: 'date-time' },
      list: { type: 'array', prefixItems: [{ type: 'number' }], items: false },
      either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
  }
  expect(schemaProblems(schema)).toEqual([])
})

describe('what the validator cannot use is told with its pointer', () => {
  test.each<[string, Record<string, unknown>, string, RegExp]>([
    ['another draft', { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }, '/$schema', /2020-12/],
    ['no object', { type: 'array' }, '/type', /must be "object"/],
    ['a misspelt keyword', withProperty({ minimun: 1 }), '/properties/n/minimun', /nearest is minimum/],
    [
      'a keyword inside a list',
      { type: 'object', allOf: [{ requird: [] }] },
      '/allOf/0/requird',
      /nearest is required/,
    ],
    ['an unknown type', withProperty({ type: 'integr' }), '/properties/n/type', /must be/],
    ['a bound that is text', withProperty({ minimum: '1' }), '/properties/n/minimum', /must be number/],
    ['a broken pattern', withProperty({ pattern: '(' }), '/properties/n/pattern', /no regular expression/],
    ['a broken name pattern', { type: 'object', patternProperties: { '[': {} } }, '/patternProperties', /no regular/],
    ['an unknown format', withProperty({ format: 'emial' }), '/properties/n/format', /nearest is email/],
    ['a reference to nothing', withProperty({ $ref: '#/$defs/x' }), '/properties/n/$ref', /leads nowhere/],
    ['a reference elsewhere', withProperty({ $ref: 'https://example.org/x' }), '/properties/n/$ref', /leads nowhere/],
    ['a reference that is no URI', withProperty({ $ref: '#/%zz' }), '/properties/n/$ref', /leads nowhere/],
    [
      'a default that does not fit',
      withProperty({ type: 'boolean', default: 'no' }),
      '/properties/n/default',
      /boolean/,
    ],
  ])('%s', (_what, schema, pointer, detail) => {
    const problems = schemaProblems(schema)
    expect(problems[0]?.pointer).toBe(pointer)
    expect(problems[0]?.detail).toMatch(detail)
  })
})

test('data that looks like a schema is left alone', () => {
  const property = { enum: [{ format: 'x', minimun: 2 }], examples: [{ $ref: '#/nowhere' }] }
  expect(schemaProblems({ type: 'object', properties: { n: property } })).toEqual([])
})

test('a default inside a reference to another property is checked', () => {
  const schema = {
    type: 'object',
    required: ['a', 'b'],
    properties: { a: { type: 'integer' }, b: { $ref: '#/properties/a', default: 'x' } },
  }
  expect(schemaProblems(schema)).toEqual([
    { pointer: '/properties/b/default', detail: 'does not fit its own schema: must be integer' },
  ])
})
