/** The type of a model reaches its callers: what they may send and what they get. */

import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type baselineForecast from '../../examples/baseline-forecast.ts'
import { jsonSchema, model } from '../../src/model/model.ts'
import type { Holdfast, ParametersOf, ResultOf, Submitted } from './index.ts'
import type { JsonOf } from './model-type.ts'

const train = model({
  name: 'train',
  parameters: z.object({ dataset: z.string(), epochs: z.number().default(10) }),
  run: async ({ dataset, epochs }) => ({
    dataset,
    loss: epochs / 2,
    at: new Date(),
    note: undefined as string | undefined,
  }),
})
const silent = model({ name: 'silent', parameters: jsonSchema<{ n: number }>({ type: 'object' }), run() {} })

/** Never called: only its types matter. */
const typed = (client: Holdfast) => ({
  submitted: client.submit<typeof train>('train', { dataset: 'a' }),
  result: client.submitAndWait<typeof train>('train', { dataset: 'a', epochs: 3 }),
  later: async () => client.result(await client.submit<typeof train>('train', { dataset: 'a' })),
  unknownModel: client.submitAndWait('train', { anything: true }),
  // @ts-expect-error: the dataset is missing.
  missing: client.submit<typeof train>('train', { epochs: 3 }),
  // @ts-expect-error: epochs is a number.
  wrong: client.submit<typeof train>('train', { dataset: 'a', epochs: 'three' }),
})
type Typed = ReturnType<typeof typed>
type TrainResult = { dataset: string; loss: number; at: string; note?: string | undefined }

test('parameters are what callers send: defaults may be left out', () => {
  expectTypeOf<ParametersOf<typeof train>>().toEqualTypeOf<{ dataset: string; epochs?: number | undefined }>()
  expectTypeOf<ParametersOf<typeof silent>>().toEqualTypeOf<{ n: number }>()
  expectTypeOf<ParametersOf<typeof baselineForecast>>().toHaveProperty('region').toEqualTypeOf<string>()
})

test('results are what JSON brings back', () => {
  expectTypeOf<Awaited<Typed['result']>>().toExtend<TrainResult>()
  expectTypeOf<ResultOf<typeof train>['at']>().toEqualTypeOf<string>()
  expectTypeOf<ResultOf<typeof silent>>().toEqualTypeOf<null>()
  expectTypeOf<ResultOf<typeof baselineForecast>['metrics']['objective']>().toEqualTypeOf<number>()
  expectTypeOf<JsonOf<[Date, () => void, { a: unknown }]>>().toEqualTypeOf<[string, null, { a: unknown }]>()
})

test('a submitted run remembers its model, and a model that is not known says nothing', () => {
  expectTypeOf<Awaited<Typed['submitted']>>().toEqualTypeOf<Submitted<typeof train>>()
  expectTypeOf<Awaited<ReturnType<Typed['later']>>>().toEqualTypeOf<ResultOf<typeof train>>()
  expectTypeOf<Awaited<Typed['unknownModel']>>().toBeUnknown()
})
