import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { definitionOf, isModel, jsonSchema, type Model, type ModelOptions, model } from './model.ts'

const good = { name: 'm', parameters: z.object({ a: z.string().optional() }), run: () => null }

function refusalOf(more: object): string {
  try {
    model({ ...good, ...more } as ModelOptions<typeof good.parameters, null>)
  } catch (error) {
    return (error as Error).message
  }
  return 'accepted'
}

test('a definition carries what was given and the defaults of the rest', () => {
  expect(definitionOf(model(good))).toEqual({
    name: 'm',
    version: '1',
    description: null,
    parametersSchema: expect.objectContaining({ type: 'object' }),
    ignoreInHash: [],
    volatile: [],
    queue: 'default',
    priority: 0,
    executor: 'process',
    retry: {},
    timeoutSeconds: null,
    expectedSeconds: null,
    concurrency: null,
  })
})

test('a definition says what its runs are found by', () => {
  const found = { facets: { language: 'statistics.language' }, places: 'entities.places' }
  expect(definitionOf(model({ ...good, ...found }))).toMatchObject(found)
})

test('run gets the output type of the schema', () => {
  const lengths = model({
    name: 'lengths',
    parameters: z.object({ text: z.string().transform((text) => text.length), n: z.number().default(1) }),
    async run(parameters) {
      expectTypeOf(parameters).toEqualTypeOf<{ text: number; n: number }>()
      return { total: parameters.text + parameters.n }
    },
  })
  expectTypeOf(lengths).toExtend<Model>()
  const { parametersSchema } = definitionOf(lengths)
  expect(parametersSchema).toMatchObject({ properties: { text: { type: 'string' }, n: { default: 1 } } })
})

describe('options are refused where they are written', () => {
  test.each([
    [{ timeoutSecond: 3 }, 'timeoutSecond: there is no such option; the nearest is timeoutSeconds'],
    [{ name: '1st' }, 'name: "1st" must be a letter'],
    [{ name: 'a'.repeat(129) }, 'must be a letter'],
    [{ version: '' }, 'version: "" must be a text of 1 to 64'],
    [{ version: 1 }, 'version: 1 must be a text'],
    [{ queue: 'a b' }, 'queue: "a b" must be'],
    [{ priority: 101 }, 'priority: 101 must be a whole number from -100 to 100'],
    [{ priority: 0.5 }, 'priority: 0.5'],
    [{ executor: 'cloud' }, 'executor: "cloud" must be one of process, inline'],
    [{ concurrency: 0 }, 'concurrency: 0 must be'],
    [{ timeoutSeconds: 0 }, 'timeoutSeconds: 0 must be above 0'],
    [{ expectedSeconds: Number.NaN }, 'expectedSeconds: NaN must be above 0'],
    [{ retry: { maxAttempts: 0 } }, 'retry: maxAttempts must be'],
    [{ ignoreInHash: ['b'] }, 'ignoreInHash: "b" is no parameter; the nearest is a'],
    [{ volatile: ['metrics.'] }, 'volatile: must be a list'],
    [{ facets: ['language'] }, 'facets: must be an object of names'],
    [{ facets: { Language: 'a' } }, 'facets.Language: must be named by'],
    [{ facets: { language: 'a.' } }, 'facets.language: must be names of the result'],
    [{ places: '' }, 'places: must be names of the result'],
    [{ run: undefined }, 'run: must be a function'],
    [{ parameters: { type: 'object' } }, 'for a plain JSON Schema use jsonSchema'],
    [{ parameters: z.string() }, 'must describe an object, not "string"'],
    [{ parameters: z.object({ at: z.date() }) }, 'cannot state itself as JSON Schema (Date'],
  ])('%o', (more, message) => {
    expect(refusalOf(more)).toContain(message)
  })

  test('all problems are told at once', () => {
    expect(refusalOf({ queue: '', priority: 'high' })).toMatch(/queue.*\n.*priority/)
  })

  test('a schema library that knows no JSON Schema is named, with the cure', () => {
    const old = { '~standard': { version: 1, vendor: 'oldlib', validate: (value: unknown) => ({ value }) } }
    expect(refusalOf({ parameters: old })).toContain('oldlib schema cannot state itself as JSON Schema')
  })

  test('a JSON Schema that is none is refused at registration', () => {
    const broken = model({
      ...good,
      parameters: jsonSchema({ type: 'object', properties: { a: { type: 'nonsense' } } }),
    })
    expect(() => definitionOf(broken)).toThrow('the model m has parameters whose JSON Schema does not compile')
  })
})

test('a model is known as such, and nothing else is', () => {
  expect([model(good), good, null, 'm'].map(isModel)).toEqual([true, false, false, false])
})
