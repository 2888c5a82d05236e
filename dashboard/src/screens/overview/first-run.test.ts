import type { ModelInfo } from '@holdfast/client'
import { describe, expect, test } from 'vitest'
import { curlLine, exampleOf, modelToTry } from './first-run.ts'

const model = (name: string, offered: boolean, parameters_schema: Record<string, unknown> = {}) =>
  ({ name, offered, parameters_schema }) as ModelInfo

describe('which model', () => {
  test('the well-known example, else one that is offered, else any', () => {
    const [other, known] = [model('other', true), model('baseline_forecast_v1', true)]
    expect(modelToTry([other, known])?.name).toBe('baseline_forecast_v1')
    expect(modelToTry([model('gone', false), other])?.name).toBe('other')
    expect(modelToTry([model('gone', false)])?.name).toBe('gone')
    expect(modelToTry([])).toBeNull()
  })

  test('none that needs a file', () => {
    const schema = { properties: { document: { type: 'string', format: 'holdfast-file' } } }
    expect(modelToTry([model('documents', true, schema)])).toBeNull()
  })
})

test('only what must be given is given, as the schema says', () => {
  const schema = {
    required: ['scenario', 'region', 'months', 'flag', 'list', 'kind', 'inner', 'late', 'known'],
    properties: {
      scenario: { enum: ['low', 'high'] },
      region: { type: 'string' },
      months: { type: 'integer', minimum: 3 },
      flag: { type: 'boolean' },
      list: { type: 'array' },
      kind: { const: 'a' },
      inner: { type: 'object', required: ['x'], properties: { x: { type: 'number' } } },
      late: { anyOf: [{ type: 'null' }, { type: 'string' }], examples: ['soon'] },
      known: { type: 'integer', default: 4 },
      optional: { type: 'string' },
    },
  }
  expect(exampleOf(schema)).toEqual({
    scenario: 'low',
    region: 'AU',
    months: 3,
    flag: true,
    list: [],
    kind: 'a',
    inner: { x: 1 },
    late: 'soon',
  })
  expect(exampleOf({})).toEqual({})
})

describe('the line', () => {
  test('names the service itself', () => {
    expect(curlLine('https://runs.example/team', model('quick', true), false)).toBe(
      "curl -s 'https://runs.example/team/runs' -H 'content-type: application/json' \\\n" +
        `  -d '{"model":"quick","parameters":{}}'`,
    )
  })

  test('asks for a token where one is needed, and keeps a quote inside the quotes', () => {
    const schema = { required: ['a'], properties: { a: { const: "it's" } } }
    const line = curlLine('http://localhost:4600', model('quick', true, schema), true)
    expect(line).toContain('-H "authorization: Bearer $HOLDFAST_TOKEN"')
    expect(line).toContain(`{"a":"it'\\''s"}`)
  })
})
