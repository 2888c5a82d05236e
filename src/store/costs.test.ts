/** The cost ledger: what is held, what its end makes of it, and what is added up. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, settlementOf, type TestStore } from '../../test/support/store.ts'
import type { RunCost } from '../run/cost.ts'
import { openStore } from './open-store.ts'
import { createReclaim } from './reclaim.ts'
import type { Lease } from './store.ts'

const COST: RunCost = { estimate: 10, ratePerSecond: null, onFailure: 'actual', onCancel: 'actual', currency: 'USD' }
const reported = (amount: number | null) => ({ cost: { reported: amount } })

describe.each(postgresVersions)('costs on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())
  beforeEach(async () => {
    await t.database.query(
      `BEGIN; SET LOCAL holdfast.retention = 'on'; DELETE FROM cost_ledger; DELETE FROM cost_days; COMMIT`,
    )
    await t.clear()
  })

  const running = (cost: Partial<RunCost> = {}, maxAttempts = 3) =>
    t.running({ cost: { ...COST, ...cost }, maxAttempts })
  const costOf = async (runId: string) => {
    const costs = await t.store.costs.of(runId)
    return costs && [costs.state, costs.state === 'HELD' ? costs.held : costs.settled]
  }
  const claimAgain = async ({ model, modelVersion }: Lease) => {
    const [lease] = await t.claim({ models: [{ model, version: modelVersion, room: 1 }] })
    return lease!
  }
  const close = () => t.store.costs.closeEnded(100)

  it('a run holds its estimate until it has ended', async () => {
    const lease = await running()
    expect(await costOf(lease.runId)).toEqual(['HELD', 10])
    expect(await close()).toBe(0)
    expect(await costOf(lease.runId)).toEqual(['HELD', 10])
  })

  it('a run without a cost has no row', async () => {
    const lease = await t.running()
    await settle(t, lease, 'succeed')
    expect(await costOf(lease.runId)).toBeNull()
  })

  it.each([
    ['what the attempt reported', { ratePerSecond: 5 }, 7.25, 7.25],
    ['its time at the rate', { ratePerSecond: 0.5 }, null, 30],
    ['the estimate where there is neither', {}, null, 10],
    ['nothing where nothing was reported as the cost', {}, 0, 0],
  ])('a success is charged %s', async (_what, cost, said, charged) => {
    const lease = await running(cost)
    await t.database.shiftClock('60 seconds')
    await settle(t, lease, 'succeed', reported(said))
    const [state, amount] = (await costOf(lease.runId))!
    expect(state).toBe('SETTLED')
    expect(Math.abs((amount as number) - charged)).toBeLessThan(1)
  })

  it.each([
    ['succeed', {}, ['SETTLED', 3]],
    ['fail', {}, ['SETTLED', 3]],
    ['fail', { onFailure: 'release' }, ['RELEASED', 0]],
    ['fail', { onCancel: 'release' }, ['SETTLED', 3]],
    ['cancel', {}, ['SETTLED', 3]],
    ['cancel', { onCancel: 'release' }, ['RELEASED', 0]],
    ['retry', {}, ['HELD', 10]],
    ['release', {}, ['HELD', 10]],
    ['lost', {}, ['HELD', 10]],
  ] as const)('after %s with %j it is %j', async (kind, policy, expected) => {
    const lease = await running(policy)
    await settle(t, lease, kind, reported(3))
    expect(await costOf(lease.runId)).toEqual(expected)
  })

  it('what the attempts of a run reported adds up, and the rest is charged by time', async () => {
    const first = await running({ ratePerSecond: 1 })
    await settle(t, first, 'retry', { ...reported(2), delaySeconds: 0 })
    const second = await claimAgain(first)
    await t.database.shiftClock('100 seconds')
    await settle(t, second, 'retry', { ...reported(null), delaySeconds: 0 })
    const third = await claimAgain(first)
    await settle(t, third, 'succeed', reported(3))
    const [, amount] = (await costOf(first.runId))!
    expect(Math.round(amount as number)).toBe(105)
  })

  it('a failure that has no attempts left closes, whatever the worker called it', async () => {
    const lease = await running({}, 1)
    await settle(t, lease, 'retry', reported(4))
    expect(await costOf(lease.runId)).toEqual(['SETTLED', 4])
  })

  it('an attempt that lost its lease changes nothing', async () => {
    const lease = await running()
    await t.database.shiftClock('10 minutes')
    await createReclaim(t.database.pool)({ limit: 10 })
    expect((await settle(t, lease, 'succeed', reported(99))).status).toBe('stale')
    expect(await costOf(lease.runId)).toEqual(['HELD', 10])
  })

  it('settled twice, because the answer was lost, it is charged once', async () => {
    const lease = await running()
    await settle(t, lease, 'succeed', reported(4))
    expect(await settle(t, lease, 'succeed', reported(4))).toEqual({ status: 'SUCCEEDED', repeated: true })
    expect(await costOf(lease.runId)).toEqual(['SETTLED', 4])
  })

  it('runs with and without a cost, successes and failures are settled together', async () => {
    const [costly, plain, failing] = [await running(), await t.running(), await running()]
    await Promise.all([
      settle(t, costly, 'succeed', reported(1)),
      settle(t, plain, 'succeed'),
      settle(t, failing, 'fail', reported(2)),
    ])
    expect([await costOf(costly.runId), await costOf(failing.runId)]).toEqual([
      ['SETTLED', 1],
      ['SETTLED', 2],
    ])
  })

  it('a waiting run that is cancelled counts as held until the janitor closes it, and costs nothing', async () => {
    const run = await t.add({ cost: COST })
    await t.store.cancel(run.id)
    expect(await costOf(run.id)).toEqual(['HELD', 10])
    expect(await close()).toBe(1)
    expect(await costOf(run.id)).toEqual(['RELEASED', 0])
  })

  it('a run that is taken back for the last time is charged the time of its attempts', async () => {
    const lease = await running({ ratePerSecond: 2 }, 1)
    await t.database.shiftClock('10 minutes')
    await createReclaim(t.database.pool)({ limit: 10 })
    expect(await close()).toBe(1)
    const [state, amount] = (await costOf(lease.runId))!
    expect([state, Math.round((amount as number) / 10)]).toEqual(['SETTLED', 120])
  })

  it('a settle that knows nothing of the cost leaves it to the janitor', async () => {
    const lease = await running({ onFailure: 'release' })
    await settle(t, lease, 'fail')
    expect(await close()).toBe(1)
    expect(await costOf(lease.runId)).toEqual(['RELEASED', 0])
  })

  it('an amount that cannot be charged costs no run its result', async () => {
    const lease = await running()
    expect((await settle(t, lease, 'succeed', reported(-1))).status).toBe('SUCCEEDED')
    await close()
    expect(await costOf(lease.runId)).toEqual(['SETTLED', 10])
  })

  it('the ledger outlives its runs, and what a deleted run held stays charged', async () => {
    const ended = await running()
    await settle(t, ended, 'succeed', reported(4))
    const open = await running()
    await t.clear()
    expect(await costOf(ended.runId)).toEqual(['SETTLED', 4])
    expect(await close()).toBe(1)
    expect(await costOf(open.runId)).toEqual(['SETTLED', 10])
  })

  it('what is closed never changes', async () => {
    const lease = await running()
    await settle(t, lease, 'succeed', reported(4))
    const change = (set: string) => t.database.query(`UPDATE cost_ledger SET ${set}`)
    await expect(change('settled = 1')).rejects.toThrow(/never changes/)
    await expect(change(`state = 'HELD', closed_at = NULL, day = NULL, settled = 0`)).rejects.toThrow(/never changes/)
    await change('rolled = true')
    await expect(change('rolled = false')).rejects.toThrow(/never changes/)
  })

  it('the day is that of the end, in UTC wherever the database is', async () => {
    const lease = await running()
    await t.database.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET TimeZone = %L', current_database(), 'Asia/Tokyo'); END $$`,
    )
    await t.database.query(
      `CREATE OR REPLACE FUNCTION holdfast.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
       AS $$ SELECT timestamptz '2031-12-31 23:59:59+00' $$`,
    )
    const inTokyo = openStore({ url: t.database.url })
    await inTokyo.settle(settlementOf(lease, 'succeed', reported(4)))
    await inTokyo.costs.roll(10)
    await inTokyo.close()
    const days = await t.database.query('SELECT DISTINCT day::text FROM cost_days')
    expect(days).toEqual([{ day: '2031-12-31' }])
  })

  it('is rolled up once, for owner and model, each of them and everyone, however many janitors roll', async () => {
    await t.database.query(
      `INSERT INTO cost_ledger (run_id, owner, model, held, on_failure, on_cancel, settled, state, created_at, closed_at, day)
       SELECT gen_random_uuid(), 'o' || i % 3, 'm' || i % 2, 1, 'actual', 'actual', CASE WHEN i % 10 = 0 THEN 0 ELSE 0.1 END,
         CASE WHEN i % 10 = 0 THEN 'RELEASED' ELSE 'SETTLED' END, clock(), clock(), date '2030-01-01' + i % 2
       FROM generate_series(1, 3000) AS i`,
    )
    const rolled = await Promise.all(Array.from({ length: 12 }, () => t.store.costs.roll(500)))
    while ((await t.store.costs.roll(500)) > 0);
    expect(rolled.some((count) => count > 0)).toBe(true)
    const sums = await t.database.query(
      `SELECT sum(amount)::float8 AS all, sum(amount) FILTER (WHERE owner = '' AND model = '')::float8 AS everyone,
         sum(amount) FILTER (WHERE owner <> '' AND model = '')::float8 AS owners,
         sum(amount) FILTER (WHERE owner = 'o1' AND model = '')::float8 AS one, count(*)::int AS days FROM cost_days`,
    )
    // Each owner and model has only runs of one day, since both go by odd and even.
    expect(sums).toEqual([{ all: 1080, everyone: 270, owners: 270, one: 90, days: 6 + 6 + 2 + 2 }])
    expect(await t.database.query('SELECT FROM cost_ledger WHERE NOT rolled')).toEqual([])
  })
})
