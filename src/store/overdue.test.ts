/** Attempts that take more than three times the expected duration: found once each, shown while they run, forgotten when they end. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore, WORKER } from '../../test/support/store.ts'
import { EVERY_RUN } from './ports/search.ts'
import type { Lease } from './store.ts'

describe.each(postgresVersions)('overdue runs on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterEach(() => t.clear())
  afterAll(() => t.close())

  const DAY_MS = 24 * 3600 * 1000
  const running = (changes = {}) =>
    t.running({ expectedSeconds: 10, timeoutSeconds: 86_400, ...changes }, WORKER, DAY_MS)
  const flagged = async () => (await t.store.overdue.flag(100)).map(({ runId }) => runId)
  const shown = async ({ runId }: Lease) => (await t.store.readRun(runId))!.run.overdueSince
  const list = async (overdue: boolean | null) => {
    const page = { limit: 50, cursor: null, order: 'created_at_asc' as const }
    return (await t.store.search.page({ ...EVERY_RUN, overdue }, page)).runs
  }

  it('is an attempt that runs for three times what was expected, and not before', async () => {
    const lease = await running()
    await t.database.shiftClock('29 seconds')
    expect([await flagged(), await shown(lease), await list(true)]).toEqual([[], null, []])
    await t.database.shiftClock('31 seconds')
    const [found] = await t.store.overdue.flag(100)
    expect(found).toMatchObject({ runId: lease.runId, attempt: 1, workerId: WORKER, expectedSeconds: 10 })
    expect(found!.runningSeconds).toBeGreaterThan(30)
    const { run, attempts } = (await t.store.readRun(lease.runId))!
    expect(run.overdueSince!.getTime() - attempts[0]!.startedAt!.getTime()).toBe(30_000)
    expect((await list(true)).map(({ id, overdueSince }) => [id, overdueSince])).toEqual([
      [lease.runId, run.overdueSince],
    ])
    expect(await t.store.overdue.count()).toBe(1)
  })

  it('is told once, as an event of its attempt, whoever looks and however often', async () => {
    const leases = [await running(), await running(), await running()]
    await t.database.shiftClock('1 minute')
    const looks = await Promise.all(Array.from({ length: 6 }, flagged))
    expect(looks.flat().toSorted()).toEqual(leases.map(({ runId }) => runId).toSorted())
    expect(await flagged()).toEqual([])
    for (const { runId } of leases) {
      expect(await t.events(runId)).toEqual(['created', 'started', 'overdue'])
      expect((await t.store.readRun(runId))!.run.eventSeq).toBe(3)
    }
    const [event] = await t.database.query(
      `SELECT status, attempt, worker_id, data FROM run_events WHERE type = 'overdue' LIMIT 1`,
    )
    expect(event).toEqual({ status: 'RUNNING', attempt: 1, worker_id: WORKER, data: { expected_seconds: 10 } })
  })

  it('takes nothing from the attempt: it settles as ever, and then it is not overdue any more', async () => {
    const lease = await running()
    await t.database.shiftClock('1 minute')
    await flagged()
    expect(await settle(t, lease, 'succeed')).toEqual({ status: 'SUCCEEDED', repeated: false })
    expect([await shown(lease), await list(true), await t.store.overdue.count()]).toEqual([null, [], 0])
    expect(await t.store.overdue.forget(100)).toBe(1)
    expect(await t.store.overdue.forget(100)).toBe(0)
    expect(await t.events(lease.runId)).toEqual(['created', 'started', 'overdue', 'succeeded'])
  })

  it('is the present attempt, not one before it', async () => {
    const first = await running({ maxAttempts: 3 })
    await t.database.shiftClock('1 minute')
    await flagged()
    await settle(t, first, 'retry')
    const [second] = await t.claim({ leaseMs: DAY_MS, models: [{ model: first.model, version: '1', room: 1 }] })
    expect([second!.attempt, await shown(second!), await flagged(), await list(true)]).toEqual([2, null, [], []])
    await t.database.shiftClock('2 minutes')
    expect(await flagged()).toEqual([first.runId])
    expect(await t.store.overdue.forget(100)).toBe(1)
    expect(await shown(second!)).not.toBeNull()
  })

  it('is no run whose duration nobody knows, none that waits and none whose lease is over', async () => {
    await running({ expectedSeconds: null })
    await t.add({ expectedSeconds: 1 })
    await t.running({ expectedSeconds: 1 }, WORKER, 1_000)
    await t.database.shiftClock('1 hour')
    expect(await flagged()).toEqual([])
  })

  it('counts work that an engine has not begun from the moment it was handed over', async () => {
    const lease = await running()
    await t.database.query(`UPDATE run_attempts SET started_at = NULL WHERE run_id = $1`, [lease.runId])
    await t.database.shiftClock('1 minute')
    expect(await flagged()).toEqual([lease.runId])
  })

  it('lists those that are not, whatever their state', async () => {
    const late = await running()
    const [waiting, inTime] = [await t.add(), await running({ expectedSeconds: 1_000 })]
    await t.database.shiftClock('1 minute')
    await flagged()
    expect((await list(false)).map(({ id }) => id)).toEqual([waiting.id, inTime.runId])
    expect((await list(null)).map(({ overdueSince }) => overdueSince !== null)).toEqual([true, false, false])
    expect(await list(true)).toMatchObject([{ id: late.runId }])
  })

  it('R309: an attempt that timed out puts its run behind those submitted meanwhile', async () => {
    const slow = await running({ maxAttempts: 3, model: 'slow' })
    const meanwhile = await t.add({ model: 'slow' })
    await settle(t, slow, 'retry', { delaySeconds: 0, error: { class: 'Timeout', message: 'too slow', stack: null } })
    const after = await t.add({ model: 'slow' })
    const order: string[] = []
    for (let no = 0; no < 3; no += 1) {
      const [next] = await t.claim({ models: [{ model: 'slow', version: '1', room: 1 }] })
      order.push(next!.runId)
    }
    expect(order).toEqual([meanwhile.id, slow.runId, after.id])
  })
})
