/** What a heartbeat does to a lease, and what it tells its holder. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore, WORKER } from '../../test/support/store.ts'
import { beat } from './heartbeat.ts'
import { createReclaim } from './reclaim.ts'

describe.each(postgresVersions)('heartbeat on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterEach(() => t.clear())
  afterAll(() => t.close())

  /** How many seconds after the start of the attempt the lease ends. */
  async function leaseSeconds(runId: string): Promise<number> {
    const [row] = await t.database.query<{ seconds: number }>(
      'SELECT round(extract(epoch FROM lease_expires_at - started_at))::int AS seconds FROM model_runs WHERE id = $1',
      [runId],
    )
    return row!.seconds
  }

  it('extends the lease from now', async () => {
    const lease = await t.running()
    await t.database.shiftClock('20 seconds')
    expect(await t.beat(lease)).toBe('held')
    expect(await leaseSeconds(lease.runId)).toBe(80)
    expect(await t.events(lease.runId)).toEqual(['created', 'started'])
  })

  it('never shortens a lease, neither by a shorter one nor by a clock that went back', async () => {
    const lease = await t.running()
    expect(await t.beat(lease, { leaseMs: 1_000 })).toBe('held')
    await t.database.shiftClock('-1 hour')
    expect(await t.beat(lease)).toBe('held')
    expect(await leaseSeconds(lease.runId)).toBe(60)
  })

  it("never extends past the attempt's deadline and grace", async () => {
    const lease = await t.running({ timeoutSeconds: 70 })
    await t.database.shiftClock('30 seconds')
    expect(await t.beat(lease, { deadlineGraceMs: 5_000 })).toBe('held')
    expect(await leaseSeconds(lease.runId)).toBe(75)
    await t.database.shiftClock('74 seconds')
    expect(await t.beat(lease, { deadlineGraceMs: 5_000 })).toBe('held')
    expect(await leaseSeconds(lease.runId)).toBe(75)
    await t.database.shiftClock('76 seconds')
    expect(await createReclaim(t.database.pool)({ limit: 10 })).toMatchObject([{ runId: lease.runId }])
  })

  it('a lease that expired and was not reclaimed is still held', async () => {
    const lease = await t.running()
    await t.database.shiftClock('10 minutes')
    expect(await t.beat(lease)).toBe('held')
    expect(await leaseSeconds(lease.runId)).toBe(660)
  })

  it('lost: another epoch, another worker, a finished run, an unknown run', async () => {
    const lease = await t.running()
    expect(await t.beat({ ...lease, epoch: 0 })).toBe('lost')
    expect(await t.beat({ ...lease, epoch: 2 })).toBe('lost')
    expect(await t.beat(lease, { workerId: 'thief' })).toBe('lost')
    await settle(t, lease, 'succeed')
    expect(await t.beat(lease)).toBe('lost')
    expect(await t.beat({ ...lease, runId: '00000000-0000-7000-8000-000000000000' })).toBe('lost')
  })

  it('lost after a reclaim, also when the same worker holds the run again under a new epoch', async () => {
    const lease = await t.running()
    await t.database.shiftClock('2 minutes')
    await createReclaim(t.database.pool)({ limit: 10 })
    expect(await t.beat(lease)).toBe('lost')
    const [again] = await t.claim({ models: [{ model: lease.model, version: '1', room: 1 }] })
    const leases = [lease, again!]
    const answers = await beat(t.database.pool, { workerId: WORKER, leaseMs: 60_000, deadlineGraceMs: 0, leases })
    expect(answers.map(({ epoch, state }) => [epoch, state])).toEqual([
      [1, 'lost'],
      [2, 'held'],
    ])
  })

  it('tells that a cancel is requested, and keeps the lease alive for the tidying up', async () => {
    const lease = await t.running()
    await t.store.cancel(lease.runId)
    await t.database.shiftClock('30 seconds')
    expect(await t.beat(lease)).toBe('cancel-requested')
    expect(await leaseSeconds(lease.runId)).toBe(90)
  })

  it('one statement answers for many leases, in the order asked', async () => {
    const [held, lost, cancelled] = [await t.running(), await t.running(), await t.running()]
    await settle(t, lost, 'release')
    await t.store.cancel(cancelled.runId)
    const leases = [cancelled, lost, held]
    const answers = await beat(t.database.pool, { workerId: WORKER, leaseMs: 60_000, deadlineGraceMs: 0, leases })
    expect(answers.map(({ runId, state }) => [runId, state])).toEqual([
      [cancelled.runId, 'cancel-requested'],
      [lost.runId, 'lost'],
      [held.runId, 'held'],
    ])
  })

  it('shows that the worker is there, also without leases', async () => {
    await t.store.registerWorker({
      workerId: WORKER,
      host: 'h',
      pid: 1,
      version: '1',
      queues: ['default'],
      concurrency: 1,
      models: [],
    })
    await t.database.shiftClock('5 minutes')
    await beat(t.database.pool, { workerId: WORKER, leaseMs: 60_000, deadlineGraceMs: 0, leases: [] })
    const [row] = await t.database.query(
      `SELECT clock() - last_seen_at < interval '1 minute' AS seen FROM workers WHERE worker_id = $1`,
      [WORKER],
    )
    expect(row).toEqual({ seen: true })
  })
})
