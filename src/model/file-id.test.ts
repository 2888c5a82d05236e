/** Files in the schemas of parameters. */

import { expect, test } from 'vitest'
import { z } from 'zod'
import { fileParametersOf } from '../run/file-parameters.ts'
import { fileId, model } from './model.ts'
import { checkParameters } from './parameter-check.ts'
import { schemaProblems } from './schema-problems.ts'

const ID = 'ab'.repeat(32)

const { definition } = model({
  name: 'reads',
  parameters: z.object({ document: fileId(), pages: z.array(fileId()).max(3).nullish() }),
  run: ({ document }) => document,
})

test('fileId() states itself as a file parameter, alone and in lists', () => {
  expect(fileParametersOf(definition.parametersSchema)).toEqual([
    { name: 'document', isList: false },
    { name: 'pages', isList: true },
  ])
})

test('the service and the worker accept 64 hex digits in lower case, and nothing else', () => {
  const check = (document: unknown) => checkParameters(definition.parametersSchema, { document }).ok
  expect([check(ID), check(ID.toUpperCase()), check(ID.slice(1)), check(`${ID}\n`), check(7)]).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
  expect(fileId().safeParse(ID).success).toBe(true)
  expect(fileId().safeParse('x').success).toBe(false)
})

test('a JSON Schema with the format alone, as in a YAML file, is enough', () => {
  const schema = { type: 'object', properties: { document: { type: 'string', format: 'holdfast-file' } } }
  expect(schemaProblems(schema)).toEqual([])
  expect(checkParameters(schema, { document: 'x' }).ok).toBe(false)
  expect(checkParameters(schema, { document: ID }).ok).toBe(true)
})

test('a file where none is looked for is refused with its place', () => {
  const file = { type: 'string', format: 'holdfast-file' }
  const nested = { type: 'object', properties: { a: { type: 'object', properties: { b: file } } } }
  expect(schemaProblems(nested)).toMatchObject([{ pointer: '/properties/a/properties/b/format' }])
  const fine = {
    type: 'object',
    properties: { a: { anyOf: [{ type: 'array', items: file }, { type: 'null' }] }, b: { $ref: '#/$defs/f' } },
    $defs: { f: file },
  }
  expect(schemaProblems(fine)).toEqual([])
})

test('model() refuses such a file too', () => {
  const parameters = z.object({ inner: z.object({ document: fileId() }) })
  expect(() => model({ name: 'deep', parameters, run: () => null })).toThrow('/properties/inner/properties/document')
})
