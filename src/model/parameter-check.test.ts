import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../run/definition.ts'
import { checkParameters, parameterCheckOf } from './parameter-check.ts'
import { statedJsonSchema } from './parameter-schema.ts'

function pointersOf(schema: JsonSchema, value: unknown): string[] {
  const checked = checkParameters(schema, value)
  return checked.ok ? [] : checked.errors.map(({ pointer }) => pointer).toSorted()
}

const nested = statedJsonSchema(
  z.strictObject({
    n: z.int().min(1).default(3),
    mode: z.enum(['fast', 'exact']).optional(),
    inner: z.strictObject({ 'a/b~c': z.string(), x: z.number().default(2) }).optional(),
    list: z.array(z.strictObject({ k: z.boolean() })).optional(),
  }),
)

test('defaults are applied inside too, and the value given is not changed', () => {
  const given = { inner: { 'a/b~c': 't' } }
  expect(checkParameters(nested, given)).toEqual({ ok: true, value: { n: 3, inner: { 'a/b~c': 't', x: 2 } } })
  expect(given).toEqual({ inner: { 'a/b~c': 't' } })
})

test('errors point at the value, at a missing parameter itself, and at an unknown one itself', () => {
  const value = { n: 0, inner: { y: 1 }, list: [{ k: true }, { k: 1 }], other: null }
  expect(pointersOf(nested, value)).toEqual(['/inner/a~1b~0c', '/inner/y', '/list/1/k', '/n', '/other'])
})

test('an unknown parameter and a wrong choice are told with what is known', () => {
  const checked = checkParameters(nested, { moed: 'fast', mode: 'slow' })
  expect(checked).toMatchObject({
    errors: expect.arrayContaining([
      { pointer: '/moed', detail: 'is not a known parameter; the nearest is mode' },
      { pointer: '/mode', detail: 'must be one of "fast", "exact"' },
    ]),
  })
})

test('an unknown parameter that resembles none is told with those there are, ten at most', () => {
  const names = Array.from({ length: 12 }, (_, no) => `parameter_${no}`)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, {}])),
    additionalProperties: false,
  }
  const detail = `is not a known parameter; known are ${names.slice(0, 10).join(', ')}, …`
  expect(checkParameters(schema, { x: 1 })).toMatchObject({ errors: [{ pointer: '/x', detail }] })
})

test('nothing is coerced', () => {
  expect(pointersOf(nested, { n: '3' })).toEqual(['/n'])
})

test('parameters that are no object are refused at the top', () => {
  expect(pointersOf(nested, [1])).toEqual([''])
})

test('equal schemas share one check', () => {
  expect(parameterCheckOf(structuredClone(nested))).toBe(parameterCheckOf(nested))
})

test('different schemas with one $id do not disturb each other', () => {
  const of = (type: string) => ({ $id: 'https://example.org/p', type: 'object', properties: { a: { type } } })
  expect(pointersOf(of('string'), { a: 1 })).toEqual(['/a'])
  expect(pointersOf(of('number'), { a: 1 })).toEqual([])
})

test('what zod states for its many kinds compiles', () => {
  const schema = z.object({
    email: z.email().optional(),
    url: z.url().optional(),
    uuid: z.uuid().optional(),
    at: z.iso.datetime({ offset: true }).optional(),
    day: z.iso.date().optional(),
    time: z.iso.time().optional(),
    span: z.iso.duration().optional(),
    ip: z.union([z.ipv4(), z.ipv6(), z.cidrv4()]).optional(),
    ids: z.union([z.cuid2(), z.ulid(), z.nanoid(), z.jwt(), z.base64(), z.base64url(), z.e164(), z.emoji()]).optional(),
    either: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), n: z.number().default(1) }),
      z.object({ kind: z.literal('b') }),
    ]),
    pair: z.tuple([z.string(), z.number()]).optional(),
    map: z.record(z.string(), z.number()).optional(),
    tree: z.lazy(() => z.array(z.string())).optional(),
    text: z
      .string()
      .regex(/^[\w-]+$/)
      .meta({ title: 'A text', examples: ['a-b'] })
      .optional(),
    nothing: z.null().optional(),
  })
  const stated = statedJsonSchema(schema)
  expect(pointersOf(stated, { either: { kind: 'b' }, email: 'a@b.de', day: '2024-02-29', pair: ['a', 1] })).toEqual([])
  expect(pointersOf(stated, { either: { kind: 'b' }, email: 'nobody' })).toContain('/email')
})

test('what is accepted is accepted again unchanged', () => {
  const value = fc.record({ n: fc.integer({ min: 1 }), inner: fc.record({ 'a/b~c': fc.string(), x: fc.integer() }) })
  fc.assert(
    fc.property(fc.oneof(value, fc.constant({})), (given) => {
      const first = checkParameters(nested, given)
      expect(first.ok && checkParameters(nested, first.value)).toEqual(first)
    }),
  )
})
