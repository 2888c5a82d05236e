/** Which keys and slots go, and that no more than asked go at once. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { key, newRun, slot } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { accepted, openTestStore, type TestStore } from '../../test/support/store.ts'

describe.each(postgresVersions)('cleaning keys on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterEach(() => t.clear())
  afterAll(() => t.close())

  const names = async () => (await t.database.query('SELECT kind FROM run_names ORDER BY kind')).map((row) => row.kind)

  it('what has not expired stays', async () => {
    const run = await t.add({ key: key('fresh', 60), slot: slot('active', 60) })
    await t.store.cancel(run.id)
    await t.database.shiftClock('59 seconds')
    expect(await t.store.deleteExpiredKeys(10)).toBe(0)
    expect(await names()).toEqual(['key', 'slot'])
  })

  it('an expired key stays until its run is finished; an expired slot goes', async () => {
    const run = await t.add({ key: key('old', 60), slot: slot('active', 60) })
    await t.database.shiftClock('61 seconds')
    expect(await t.store.deleteExpiredKeys(10)).toBe(1)
    expect(await names()).toEqual(['key'])
    await t.store.cancel(run.id)
    expect(await t.store.deleteExpiredKeys(10)).toBe(1)
    expect(await names()).toEqual([])
  })

  it('takes at most as many as asked, oldest first, and the rest the next time', async () => {
    await t.store.submitMany(Array.from({ length: 5 }, () => newRun({ slot: slot('active', 60) })))
    await t.database.shiftClock('2 minutes')
    expect(await t.store.deleteExpiredKeys(3)).toBe(3)
    expect(await t.store.deleteExpiredKeys(3)).toBe(2)
    expect(await t.store.deleteExpiredKeys(3)).toBe(0)
  })

  it('two cleaners at once and a submit that takes a lapsed name over do not disturb each other', async () => {
    const runs = Array.from({ length: 200 }, () => newRun({ slot: slot('active', 60) }))
    await t.store.submitMany(runs)
    await t.database.shiftClock('2 minutes')
    const again = runs.map(({ parameters }) => newRun({ parameters, slot: slot('active', 60) }))
    const [answers] = await Promise.all([
      t.store.submitMany(again),
      t.store.deleteExpiredKeys(1_000),
      t.store.deleteExpiredKeys(1_000),
    ])
    expect(answers.map((answer) => accepted(answer).idempotentHit)).toEqual(again.map(() => false))
    expect(await names()).toHaveLength(200)
  })
})
