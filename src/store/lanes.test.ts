/** Lanes are on the way of every submit, so where they are known nothing is waited for. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { newRun } from '../../test/support/new-run.ts'
import { createLanes } from './lanes.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

it('are made when they are first asked for, and at hand from then on', async () => {
  const lanes = createLanes()
  const run = newRun({ queue: 'known' })
  await lanes.ensure(database.pool, [run])
  expect(lanes.of(run)).toBeGreaterThan(0)
  expect(lanes.ensure(database.pool, [run, newRun({ queue: 'known' })])).toBeUndefined()
})

it('are made for one run of many whose lane is new', async () => {
  const lanes = createLanes()
  const [known, other] = [newRun({ queue: 'known' }), newRun({ queue: 'other' })]
  await lanes.ensure(database.pool, [known])
  await lanes.ensure(database.pool, [known, other])
  expect(lanes.of(other)).not.toBe(lanes.of(known))
})
