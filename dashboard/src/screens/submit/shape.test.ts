import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Schema } from './schema.ts'
import { type Described, describe } from './shape.ts'

const one = (schema: Schema): Described => describe(schema, schema)
const input = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' }) as Schema
const property = (root: Schema, name: string) => describe((root.properties as Schema)[name], root)

test('a schema as zod writes it becomes fields', () => {
  const root = input(
    z.strictObject({
      scenario: z.enum(['baseline', 'recession']).default('baseline').describe('Which future'),
      region: z.string().min(2).max(40),
      months: z.int().min(1).max(600).default(24),
      count: z.int(),
      rate: z.number().positive(),
      flag: z.boolean(),
      sectors: z.array(z.string()).max(3),
      limits: z.object({ floor: z.number().optional() }),
      weights: z.record(z.string(), z.number()),
      note: z.string().nullable(),
      when: z.iso.datetime(),
      mail: z.email(),
      kind: z.literal('x'),
      size: z.union([z.literal(1), z.literal(2)]),
      source: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('file'), path: z.string() }),
        z.object({ kind: z.literal('web'), url: z.url() }),
      ]),
      pair: z.tuple([z.string(), z.number()]),
      anything: z.unknown(),
    }),
  )
  expect(property(root, 'scenario')).toMatchObject({
    shape: { kind: 'choice', options: [{ label: 'baseline' }, { label: 'recession' }] },
    description: 'Which future',
    default: 'baseline',
  })
  expect(property(root, 'region')).toMatchObject({ shape: { kind: 'text' }, hints: ['2 to 40 characters'] })
  expect(property(root, 'months')).toMatchObject({ shape: { isInteger: true }, hints: ['1 to 600'], default: 24 })
  expect(property(root, 'count').hints, 'a safe integer is not worth saying').toEqual([])
  expect(property(root, 'rate').hints).toEqual(['more than 0'])
  expect(property(root, 'flag').shape).toEqual({ kind: 'boolean' })
  expect(property(root, 'sectors')).toMatchObject({ shape: { kind: 'list' }, hints: ['at most 3 items'] })
  expect(property(root, 'limits').shape).toMatchObject({ kind: 'object', properties: [{ name: 'floor' }] })
  expect(property(root, 'weights').shape).toMatchObject({ kind: 'map', values: { type: 'number' } })
  expect(property(root, 'note')).toMatchObject({ shape: { kind: 'text' }, isNullable: true })
  expect(property(root, 'when').hints).toEqual(['a time with its zone, such as 2030-01-31T08:00:00Z'])
  expect(property(root, 'mail').hints).toEqual(['a mail address'])
  expect(property(root, 'kind').shape).toMatchObject({ kind: 'choice', options: [{ value: 'x' }] })
  expect(property(root, 'size').shape).toMatchObject({ kind: 'choice', options: [{ value: 1 }, { value: 2 }] })
  expect(property(root, 'source').shape).toMatchObject({
    kind: 'branches',
    branches: [{ label: 'kind: file' }, { label: 'kind: web' }],
  })
  expect(property(root, 'pair').shape).toEqual({ kind: 'json' })
  expect(property(root, 'anything').shape).toEqual({ kind: 'json' })
})

test('a schema as Python libraries write it: references, titles, optional as "or null"', () => {
  const root: Schema = {
    $defs: {
      Place: { type: 'object', title: 'Place', properties: { lat: { type: 'number' } }, required: ['lat'] },
      Colour: { enum: ['red', 'green'], title: 'Colour', type: 'string' },
    },
    type: 'object',
    properties: {
      place: { $ref: '#/$defs/Place', description: 'Where' },
      other: { anyOf: [{ $ref: '#/$defs/Place' }, { type: 'null' }], default: null },
      colour: { allOf: [{ $ref: '#/$defs/Colour' }], default: 'red' },
      horizon: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null, title: 'Horizon Months' },
      either: { anyOf: [{ type: 'integer' }, { type: 'string' }, { type: 'null' }] },
      maybe: { type: ['string', 'null'] },
      listed: { enum: ['a', null] },
    },
  }
  expect(property(root, 'place')).toMatchObject({ shape: { kind: 'object' }, description: 'Where', title: 'Place' })
  expect(property(root, 'other')).toMatchObject({ shape: { kind: 'object' }, isNullable: true, default: null })
  expect(property(root, 'colour')).toMatchObject({ shape: { kind: 'choice' }, default: 'red' })
  expect(property(root, 'horizon')).toMatchObject({
    shape: { kind: 'number' },
    isNullable: true,
    title: 'Horizon Months',
  })
  expect(property(root, 'either')).toMatchObject({
    shape: { kind: 'branches', branches: [{ label: 'integer' }, { label: 'string' }] },
    isNullable: true,
  })
  expect(property(root, 'maybe')).toMatchObject({ shape: { kind: 'text' }, isNullable: true })
  expect(property(root, 'listed')).toMatchObject({ shape: { options: [{ value: 'a' }] }, isNullable: true })
})

test('a file is a field of its own, also when it may be left out or there are several', () => {
  const file = { type: 'string', format: 'holdfast-file' }
  const root: Schema = { properties: { one: file, none: { anyOf: [file, { type: 'null' }] }, all: { items: file } } }
  expect(property(root, 'one').shape.kind).toBe('file')
  expect(property(root, 'none')).toMatchObject({ shape: { kind: 'file' }, isNullable: true })
  expect(property(root, 'all').shape).toMatchObject({ kind: 'list', items: file })
})

test('needed names come first as they were written, the others by name', () => {
  const { shape } = one({
    type: 'object',
    properties: { b: {}, zebra: {}, a: {}, name: {} },
    required: ['zebra', 'name', 'gone'],
  })
  expect(shape.kind === 'object' && shape.properties.map(({ name }) => name)).toEqual(['zebra', 'name', 'a', 'b'])
})

test('nothing makes it loop or throw: references in circles, to nowhere, odd schemas', () => {
  const circle: Schema = { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }
  expect(one(circle).shape.kind).toBe('json')
  for (const odd of [
    { $ref: '#/nowhere' },
    { $ref: 'http://x/' },
    { anyOf: [] },
    { anyOf: [{ type: 'null' }] },
    { enum: [] },
  ]) {
    expect(() => one(odd)).not.toThrow()
  }
  const tree: Schema = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } }
  expect(property(tree, 'children').shape).toMatchObject({ kind: 'list', items: { $ref: '#' } })
  for (const schema of [true, false, null, 'x']) expect(describe(schema, {}).shape.kind).toBe('json')
})
