import { expect, test } from 'vitest'
import { z } from 'zod'
import { HealthAnswer } from '../contract/health.ts'
import { RunObject, RunStatusName } from '../contract/run.ts'
import { RunFilterJson } from '../contract/run-filter.ts'
import { SubmitBody } from '../contract/submit.ts'
import { createSchemas } from './openapi-schemas.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

test('a schema of the contract is referred to, and comes with all it refers to', () => {
  const schemas = createSchemas({ input: [], output: [RunObject] })
  expect(schemas.of(RunObject, 'output')).toEqual(ref('Run'))
  const components = schemas.components()
  expect(Object.keys(components)).toEqual(expect.arrayContaining(['Attempt', 'Run', 'RunStatusName']))
  expect(components.Run).toMatchObject({ type: 'object', properties: { status: ref('RunStatusName') } })
})

test('what nothing refers to is left out', () => {
  const schemas = createSchemas({ input: [], output: [HealthAnswer] })
  schemas.of(HealthAnswer, 'output')
  expect(Object.keys(schemas.components())).toEqual(['HealthAnswer'])
})

test('a schema without a name stands where it is used, with references inside', () => {
  const page = z.strictObject({ data: z.array(RunStatusName) })
  const schemas = createSchemas({ input: [], output: [page] })
  expect(schemas.of(page, 'output')).toEqual({
    type: 'object',
    properties: { data: { type: 'array', items: ref('RunStatusName') } },
    required: ['data'],
    additionalProperties: false,
  })
})

test('a schema without a name inside another one stands there, too', () => {
  const inner = z.strictObject({ a: z.int().min(0).max(9) })
  const outer = z.strictObject({ inner })
  const schemas = createSchemas({ input: [], output: [outer, inner] })
  expect(schemas.of(outer, 'output')).toMatchObject({ properties: { inner: { properties: { a: { maximum: 9 } } } } })
})

test('a body is described as it is sent', () => {
  const body = z.strictObject({ limit: z.string().transform(Number), size: z.int().default(1) })
  const schemas = createSchemas({ input: [body], output: [] })
  expect(schemas.of(body, 'input')).toMatchObject({ properties: { limit: { type: 'string' } }, required: ['limit'] })
})

test('used both ways and different, the sent one has a name of its own', () => {
  const sent = z.strictObject({ filter: RunFilterJson })
  const schemas = createSchemas({ input: [sent], output: [RunFilterJson] })
  expect(schemas.of(sent, 'input')).toMatchObject({ properties: { filter: ref('RunFilterJsonInput') } })
  expect(schemas.of(RunFilterJson, 'output')).toEqual(ref('RunFilterJson'))
  expect(Object.keys(schemas.components())).toEqual(['RunFilterJson', 'RunFilterJsonInput', 'RunStatusName'])
})

test('used both ways and equal, there is one', () => {
  const sent = z.strictObject({ status: RunStatusName })
  const schemas = createSchemas({ input: [sent], output: [RunStatusName] })
  expect(schemas.of(sent, 'input')).toMatchObject({ properties: { status: ref('RunStatusName') } })
})

test('used one way only, no name says so', () => {
  const schemas = createSchemas({ input: [SubmitBody], output: [HealthAnswer] })
  expect(schemas.of(SubmitBody, 'input')).toEqual(ref('SubmitBody'))
})

test('a schema that was not given is no description', () => {
  expect(() => createSchemas({ input: [], output: [] }).of(z.strictObject({}), 'output')).toThrow('was not given')
})
