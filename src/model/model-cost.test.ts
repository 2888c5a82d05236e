/** A model's cost, as code and as a file state it: what is wrong is told where it is written. */

import { expect, it } from 'vitest'
import { model } from './model.ts'
import { jsonSchema } from './parameter-schema.ts'
import { defineYamlModel } from './yaml-definition.ts'
import { YamlModel } from './yaml-schema.ts'

const PARAMETERS = { type: 'object', properties: { months: { type: 'integer' } } } as const

it('is part of the definition', () => {
  const cost = { estimate: 'parameters.months * 2', ratePerSecond: 0.5, onCancel: 'release', currency: 'USD' } as const
  const { definition } = model({ name: 'm', parameters: jsonSchema(PARAMETERS), cost, run: () => null })
  expect(definition.cost).toEqual(cost)
})

it('with a formula that cannot be evaluated is refused, with every problem', () => {
  const cost = { estimate: 'parameters.month', ratePerSecond: -1 }
  const make = () => model({ name: 'm', parameters: jsonSchema(PARAMETERS), cost, run: () => null })
  expect(make).toThrow(/cost\.estimate: month is no parameter; the nearest is months/)
  expect(make).toThrow(/cost\.ratePerSecond: must be a number from 0/)
})

const fromYaml = (cost: object) =>
  defineYamlModel(YamlModel.parse({ name: 'm', executor: 'remote', parameters: PARAMETERS, cost }), '/tmp')

it('in a file has the same meaning', () => {
  const { definition, misfits } = fromYaml({ estimate: 3, rate_per_second: 0.5, on_failure: 'release' })
  expect([definition.cost, misfits]).toEqual([{ estimate: 3, ratePerSecond: 0.5, onFailure: 'release' }, []])
})

it('in a file is refused at its key', () => {
  expect(fromYaml({ estimate: 'os.exit()' }).misfits).toEqual([
    { at: '/cost/estimate', detail: expect.stringMatching(/^the expression/) },
  ])
})
