/** `holdfast quota` and `holdfast reservation` as a person types them. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { openPlace, type Place } from '../support/processes.ts'

let place: Place
let database: TestDatabase
beforeAll(async () => {
  place = await openPlace()
  database = await createTestDatabase()
})
afterAll(async () => {
  await place.close()
  await database.drop()
})

async function holdfast(...args: string[]) {
  const process = place.run(args, { DATABASE_URL: database.url })
  const { code } = await process.exited
  return { code, text: process.text() }
}

it('sets a rule, shows how much of it is used and by what, and deletes it when told to', async () => {
  const made = await holdfast('quota', 'set', 'ana', '--max-concurrent', '5', '--cost-per-day', '2.5', '--json')
  expect(JSON.parse(made.text)).toMatchObject({ owner: 'ana', max_concurrent: 5, cost_per_day: 2.5, action: 'block' })
  const store = openStore({ url: database.url })
  await store.reservations.reserve({ id: randomUUID(), owner: 'ana', model: null, ttlSeconds: 300, cost: null })
  const { events } = await store.audit.list({ limit: 1, cursor: null })
  expect(events).toMatchObject([{ action: 'quota.put', target: 'ana', actorOwner: 'command line' }])
  await store.close()
  const [listed, got, reserved, refused] = await Promise.all([
    holdfast('quota', 'list'),
    holdfast('quota', 'get', 'ana'),
    holdfast('reservation', 'list', '--state', 'active'),
    holdfast('quota', 'delete', 'ana'),
  ])
  expect(listed.text).toMatch(/^ana +- +- +5 +- +- +2\.5 +- +block$/m)
  expect(got.text).toMatch(/max concurrent +1 of 5 +runs 0, reservations 1 +ana +block +binds/)
  expect(reserved.text).toMatch(/^[0-9a-f-]{36} +ana +- +ACTIVE /m)
  expect([refused.code, refused.text]).toEqual([1, expect.stringContaining('--yes')])
  const [deleted, checked] = await Promise.all([
    holdfast('quota', 'delete', 'ana', '--yes'),
    holdfast('quota', 'check'),
  ])
  expect(deleted).toEqual({ code: 0, text: 'Deleted the quota of ana.' })
  expect(checked).toEqual({ code: 0, text: 'What is counted is what there is.' })
})

it('what is mistyped is refused with a reason', async () => {
  const refused = await Promise.all([
    holdfast('quota', 'set', 'ana', '--max-concurrent', 'many'),
    holdfast('quota', 'set', 'ana', '--together'),
    holdfast('quota', 'delete', 'nobody', '--yes'),
  ])
  expect(refused.map(({ code }) => code)).toEqual([1, 1, 1])
  expect(refused[0]!.text).toContain('--max-concurrent must be a number, not "many"')
  expect(refused[1]!.text).toContain('--together is for the owner * only')
  expect(refused[2]!.text).toContain('there is no quota of nobody')
})
