/**
 * Values made from JSON Schemas: some that fit, and some that fit nearly. Names with a meaning of their own (a model, a
 * queue, an id of something that exists) are often given a value that leads somewhere, or every request would end at the first check.
 */

import fc from 'fast-check'
import type { JsonSchema } from '../../src/api/openapi-schemas.ts'

export type Words = {
  /** Values for fields and parameters of that name, looked up when a value is made. */
  known: (name: string) => unknown[]
  named: Record<string, JsonSchema>
}

const DEPTH_MAX = 5

/** What fits no schema, or only just. */
export const oddValues: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, true, false, 0, -0, -1, 0.5, 1e21, 1e308, 5e-324, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 63],
    ...[
      '',
      ' ',
      '0',
      'null',
      '\u0000',
      '\ud800',
      '\u202e',
      'é',
      'e\u0301',
      '🏃‍♀️',
      '../..',
      "'; --",
      '%00',
      '%s',
      '{{x}}',
    ],
    ...['x'.repeat(5000), '😀'.repeat(200), '2030-02-31T25:61:00Z', '9999999-01-01T00:00:00Z', '0000-01-01T00:00:00Z'],
    ...['00000000-0000-0000-0000-000000000000', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', '[redacted]'],
  ),
  fc.constantFrom<unknown>([], {}, [null], [[]], { a: 1 }, [{}], { '': '' }, { toString: 1 }, { length: -1 }),
  fc.constant(nested(100)),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.jsonValue({ maxDepth: 3 }),
)

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let index = 0; index < depth; index += 1) value = [value]
  return value
}

export function fitting(schema: JsonSchema, words: Words, name = '', depth = 0): fc.Arbitrary<unknown> {
  const made = byShape(schema, words, name, depth)
  // Looked up late: what exists grows while the requests are sent.
  const known = fc.nat().map((index) => pick(words.known(name), index))
  return fc
    .tuple(fc.nat({ max: 9 }), known, made)
    .map(([dice, one, other]) => (one !== undefined && dice < 7 ? one : other))
}

function pick(values: unknown[], index: number): unknown {
  return values.length === 0 ? undefined : values[index % values.length]
}

function byShape(schema: JsonSchema, words: Words, name: string, depth: number): fc.Arbitrary<unknown> {
  const { $ref, const: constant, enum: values, anyOf, oneOf, allOf } = schema
  if (typeof $ref === 'string') return fitting(words.named[$ref.split('/').at(-1)!]!, words, name, depth + 1)
  if (constant !== undefined) return fc.constant(constant)
  if (Array.isArray(values)) return fc.constantFrom(...values)
  for (const several of [anyOf, oneOf, allOf]) {
    if (Array.isArray(several)) return fc.oneof(...several.map((one) => fitting(one, words, name, depth + 1)))
  }
  const types = [schema.type].flat()
  return fc.oneof(...types.map((type) => ofType(String(type), schema, words, name, depth)))
}

function ofType(type: string, schema: JsonSchema, words: Words, name: string, depth: number): fc.Arbitrary<unknown> {
  switch (type) {
    case 'object':
      return objects(schema, words, depth)
    case 'array':
      return fc.array(fitting((schema.items ?? {}) as JsonSchema, words, name, depth + 1), {
        minLength: Number(schema.minItems ?? 0),
        maxLength: Math.min(Number(schema.maxItems ?? 3), Math.max(3, Number(schema.minItems ?? 0))),
      })
    case 'integer':
      return fc.integer(limits(schema, 2 ** 31 - 1))
    case 'number':
      return fc.double({ ...limits(schema, 1e9), noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return strings(schema)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function limits(schema: JsonSchema, most: number): { min: number; max: number } {
  const min = Math.max(Number(schema.minimum ?? schema.exclusiveMinimum ?? -most), -most)
  return { min, max: Math.max(min, Math.min(Number(schema.maximum ?? schema.exclusiveMaximum ?? most), most)) }
}

function strings(schema: JsonSchema): fc.Arbitrary<string> {
  if (schema.format === 'uuid') return fc.uuid()
  if (schema.format === 'date-time') {
    const range = { min: new Date('2000-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }
    return fc.date(range).map((date) => date.toISOString())
  }
  if (typeof schema.pattern === 'string') return fc.stringMatching(new RegExp(schema.pattern))
  const minLength = Number(schema.minLength ?? 0)
  const maxLength = Math.max(minLength, Math.min(Number(schema.maxLength ?? 24), 24))
  return fc.oneof(
    fc.string({ minLength, maxLength }),
    fc.string({ unit: 'grapheme', minLength: Math.min(minLength, maxLength), maxLength: Math.max(minLength, 8) }),
  )
}

function objects(schema: JsonSchema, words: Words, depth: number): fc.Arbitrary<unknown> {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: string[] }
  const shown = Object.entries(properties).filter(([name]) => depth < DEPTH_MAX || required.includes(name))
  const fields = Object.fromEntries(shown.map(([name, field]) => [name, fitting(field, words, name, depth + 1)]))
  const optional = Object.keys(fields).filter((name) => !required.includes(name))
  // A request with every optional name is refused nearly always; a few of them at a time get further.
  return fc
    .tuple(fc.record(fields), fc.subarray(optional, { maxLength: Math.min(4, optional.length) }))
    .map(([value, kept]) =>
      Object.fromEntries(Object.entries(value).filter(([name]) => required.includes(name) || kept.includes(name))),
    )
}

/** A value that fits, changed in one place. */
export function nearly(schema: JsonSchema, words: Words): fc.Arbitrary<unknown> {
  const changes = fc.record({
    kind: fc.constantFrom('replace', 'remove', 'add'),
    path: fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 3 }),
    odd: oddValues,
    name: fc.constantFrom('modle', 'unknown', '__proto__', 'constructor', '', '\u0000', 'x'.repeat(300), 'é'),
  })
  return fc.tuple(fitting(schema, words), changes).map(([value, change]) => changed(value, change, change.path))
}

type Change = { kind: string; odd: unknown; name: string }

function changed(value: unknown, change: Change, path: number[]): unknown {
  const [step = 0, ...rest] = path
  if (Array.isArray(value) && value.length > 0) {
    const at = step % value.length
    if (rest.length > 0) return value.map((one, index) => (index === at ? changed(one, change, rest) : one))
    if (change.kind === 'remove') return value.filter((_, index) => index !== at)
    return [...value, change.odd]
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return change.odd
  const names = Object.keys(value)
  const name = names[step % Math.max(1, names.length)]
  const fields = new Map(Object.entries(value))
  if (change.kind === 'add' || name === undefined) fields.set(change.name, change.odd)
  else if (rest.length > 0) fields.set(name, changed(fields.get(name), change, rest))
  else if (change.kind === 'remove') fields.delete(name)
  else fields.set(name, change.odd)
  return Object.fromEntries(fields)
}
