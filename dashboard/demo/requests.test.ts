import type pg from 'pg'
import { expect, test } from 'vitest'
import { definitionOf } from '../../src/model/model.ts'
import { checkParameters } from '../../src/model/parameter-check.ts'
import { until } from '../../test/support/until.ts'
import { fastClock } from './fast-clock.ts'
import { churnTraining } from './models/churn-training.ts'
import { climateForecast } from './models/climate-forecast.ts'
import { nightlyReport } from './models/nightly-report.ts'
import { pricingScenario } from './models/pricing-scenario.ts'
import { routeOptimisation } from './models/route-optimisation.ts'
import { dayOfRequests } from './requests.ts'

const DAY_MS = 24 * 3_600_000
const FROM_MS = Date.parse('2026-05-04T00:00:00Z')
const day = dayOfRequests(FROM_MS, FROM_MS + DAY_MS)

const definitions = new Map(
  [churnTraining, climateForecast, nightlyReport, pricingScenario, routeOptimisation]
    .map(definitionOf)
    .map((definition) => [definition.name, definition]),
)

test('a day is the same each time, in order, and asks for every model', () => {
  expect(dayOfRequests(FROM_MS, FROM_MS + DAY_MS)).toEqual(day)
  expect(day.map(({ atMs }) => atMs)).toEqual(day.map(({ atMs }) => atMs).toSorted((a, b) => a - b))
  expect(new Set(day.map(({ model }) => model))).toEqual(new Set(definitions.keys()))
  expect(day.length).toBeGreaterThan(300)
})

test('every request is one that its model takes', () => {
  const refused = day.flatMap(({ model, parameters }) => {
    const checked = checkParameters(definitions.get(model)!.parametersSchema, parameters)
    return checked.ok ? [] : [{ model, parameters, errors: checked.errors }]
  })
  expect(refused).toEqual([])
})

test('the fast clock begins hours ago, and is right at the end', async () => {
  const clock = fastClock(24)
  const database = { query: async () => ({}) } as unknown as pg.Pool
  expect(Date.now() - clock.nowMs()).toBeGreaterThan(DAY_MS - 1_000)
  const { endsMs, speed } = await clock.go(database, 0.05)
  expect(speed).toBeGreaterThan(1_000_000)
  await until(() => clock.nowMs() >= endsMs, { what: 'the day is over' })
  expect(Math.abs(clock.nowMs() - Date.now())).toBeLessThan(1_000)
})
