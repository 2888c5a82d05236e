import { describe, expect, test } from 'vitest'
import { schemaRows } from './schema-rows.ts'

const rowsOf = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  schemaRows({ type: 'object', properties, ...more })

test('each property says its type, whether it must be given, its default and its bounds', () => {
  const months = { type: 'integer', minimum: 1, maximum: 600, default: 24, description: 'How far' }
  expect(rowsOf({ region: { type: 'string' }, months }, { required: ['region'] })).toEqual([
    { path: 'region', type: 'string', isRequired: true, fallback: null, rules: [], description: null },
    {
      path: 'months',
      type: 'integer',
      isRequired: false,
      fallback: '24',
      rules: ['at least 1', 'at most 600'],
      description: 'How far',
    },
  ])
})

describe('types', () => {
  const typeOf = (schema: unknown, more = {}) => rowsOf({ it: schema }, more)[0]!.type

  test('choices, constants, files, lists and alternatives', () => {
    expect(typeOf({ enum: ['low', 'high'] })).toBe('"low" | "high"')
    expect(typeOf({ const: 3 })).toBe('3')
    expect(typeOf({ type: 'string', format: 'holdfast-file', pattern: '^[0-9a-f]{64}$' })).toBe('file')
    expect(typeOf({ type: 'array', items: { type: 'string' } })).toBe('list of string')
    expect(typeOf({ anyOf: [{ type: 'number' }, { type: 'null' }] })).toBe('number or null')
    expect(typeOf({ type: ['string', 'null'] })).toBe('string or null')
    expect(typeOf({})).toBe('any')
    expect(typeOf(true)).toBe('any')
  })

  test('references are followed, also when they go in circles or nowhere', () => {
    const $defs = { text: { type: 'string', maxLength: 9 }, loop: { $ref: '#/$defs/loop' } }
    expect(rowsOf({ it: { $ref: '#/$defs/text', description: 'Words' } }, { $defs })[0]).toMatchObject({
      type: 'string',
      rules: ['at most 9 characters'],
      description: 'Words',
    })
    expect(typeOf({ $ref: '#/$defs/loop' }, { $defs })).toBe('any')
    expect(typeOf({ $ref: '#/nowhere' })).toBe('any')
  })
})

test('what is inside others is below them', () => {
  const floor = { type: 'number' }
  const limits = { type: 'object', properties: { floor }, required: ['floor'] }
  const points = { type: 'array', items: { type: 'object', properties: { x: { type: 'number' } } } }
  expect(rowsOf({ limits, points }).map(({ path, type, isRequired }) => [path, type, isRequired])).toEqual([
    ['limits', 'object', false],
    ['limits.floor', 'number', true],
    ['points', 'list of object', false],
    ['points[].x', 'number', false],
  ])
})

test('a schema that contains itself ends', () => {
  const tree = { type: 'object', properties: { child: { $ref: '#/$defs/tree' } } }
  expect(rowsOf({ tree: { $ref: '#/$defs/tree' } }, { $defs: { tree } }).length).toBeLessThan(10)
})

test('bounds that say nothing are left out', () => {
  const whole = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
  expect(rowsOf({ whole })[0]!.rules).toEqual([])
})

test('something that is no schema of an object has no rows', () => {
  expect(schemaRows({})).toEqual([])
  expect(schemaRows({ properties: [] })).toEqual([])
})
