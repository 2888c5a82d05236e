/** Runs taken back from workers that died, froze or never confirmed a cancel; and that a success which comes first stands. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, settlementOf, type TestStore, WORKER } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import { nextRun } from '../run/transition.ts'
import { createReclaim } from './reclaim.ts'
import type { Lease } from './store.ts'

describe.each(postgresVersions)('reclaim on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterEach(() => t.clear())
  afterAll(() => t.close())

  const reclaim = (limit = 100) => createReclaim(t.database.pool)({ limit })
  const expire = () => t.database.shiftClock('2 minutes')
  const readRun = async (runId: string) => (await t.store.readRun(runId))!

  it('leaves a valid lease alone', async () => {
    await t.running()
    await t.database.shiftClock('59 seconds')
    expect(await reclaim()).toEqual([])
  })

  it('an expired lease: attempt LOST, run PENDING at the back of its queue', async () => {
    const lease = await t.running()
    const waiting = await t.add({ model: lease.model })
    await expire()
    const [reclaimed, ...others] = await reclaim()
    expect(others).toEqual([])
    expect(reclaimed).toMatchObject({ runId: lease.runId, attempt: 1, workerId: WORKER, status: 'PENDING' })
    expect(Math.round(reclaimed!.overdueMs / 1_000)).toBe(60)
    const { run, attempts } = await readRun(lease.runId)
    expect(run).toMatchObject({ status: 'PENDING', leaseOwner: null, attemptCount: 1, reclaimCount: 1, leaseEpoch: 1 })
    expect(run.lastError).toMatchObject({ class: 'WorkerLost', attempt: 1 })
    expect(attempts[0]).toMatchObject({ state: 'LOST', error: { class: 'WorkerLost' } })
    expect(await t.events(lease.runId)).toEqual(['created', 'started', 'reclaimed'])
    const models = [{ model: lease.model, version: '1', room: 2 }]
    const order = [await t.claim({ models }), await t.claim({ models })].flat()
    expect(order.map(({ runId }) => runId)).toEqual([waiting.id, lease.runId])
  })

  it.each([
    { cancelRequested: false, attemptsLeft: true },
    { cancelRequested: false, attemptsLeft: false },
    { cancelRequested: true, attemptsLeft: true },
    { cancelRequested: true, attemptsLeft: false },
  ])('ends as the table of transitions says with $cancelRequested, $attemptsLeft', async (facts) => {
    const lease = await t.running({ maxAttempts: facts.attemptsLeft ? 2 : 1 })
    if (facts.cancelRequested) await t.store.cancel(lease.runId)
    await expire()
    await reclaim()
    const { run, attempts } = await readRun(lease.runId)
    const expected = nextRun('reclaim', 'RUNNING', facts)
    expect({ ok: true, status: run.status, attempt: attempts[0]?.state }).toEqual(expected)
    const last = { PENDING: 'reclaimed', FAILED: 'failed', CANCELLED: 'cancelled', RUNNING: '', SUCCEEDED: '' }
    expect((await t.events(lease.runId)).at(-1)).toBe(last[run.status])
  })

  it('a released attempt does not use up the budget of a reclaim', async () => {
    const first = await t.running({ maxAttempts: 2 })
    await settle(t, first, 'release')
    const models = [{ model: first.model, version: '1', room: 1 }]
    await until(async () => (await t.claim({ models }))[0], { what: 'the released run is claimed again' })
    await expire()
    expect(await reclaim()).toMatchObject([{ attempt: 2, status: 'PENDING' }])
  })

  it('the janitor has looked, the worker settles first: the success stands', async () => {
    const lease = await t.running()
    await expire()
    const worker = await t.database.pool.connect()
    try {
      // The settle is under way and not committed when the janitor looks, so the janitor passes the row by.
      await worker.query('BEGIN')
      await worker.query('SELECT FROM model_runs WHERE id = $1 FOR UPDATE', [lease.runId])
      expect(await reclaim()).toEqual([])
      await worker.query('COMMIT')
    } finally {
      worker.release()
    }
    expect(await settle(t, lease, 'succeed')).toEqual({ status: 'SUCCEEDED', repeated: false })
    expect(await reclaim()).toEqual([])
    expect((await readRun(lease.runId)).run.status).toBe('SUCCEEDED')
  })

  it('the janitor holds the row uncommitted, the worker settles then: its result is discarded and that is recorded', async () => {
    const lease = await t.running()
    await expire()
    const janitor = await t.database.pool.connect()
    try {
      await janitor.query('BEGIN')
      const pool = { query: janitor.query.bind(janitor) } as unknown as Parameters<typeof createReclaim>[0]
      expect(await createReclaim(pool)({ limit: 10 })).toHaveLength(1)
      const settling = settle(t, lease, 'succeed')
      await untilSomeoneWaits()
      await janitor.query('COMMIT')
      expect(await settling).toEqual({ status: 'stale', repeated: false })
    } finally {
      janitor.release()
    }
    expect((await readRun(lease.runId)).run).toMatchObject({ status: 'PENDING', resultRef: null })
    expect((await t.events(lease.runId)).slice(2)).toEqual(['reclaimed', 'late_result_discarded'])
  })

  it('the worker holds the row uncommitted while the janitor has it selected: the janitor changes nothing', async () => {
    const lease = await t.running()
    await expire()
    const worker = await t.database.pool.connect()
    try {
      await worker.query('BEGIN')
      await worker.query(
        `UPDATE model_runs SET status = 'SUCCEEDED', finished_at = clock(), result_ref = 'inline', result_hash = 'f',
           lease_owner = NULL, lease_expires_at = NULL, deadline_at = NULL WHERE id = $1`,
        [lease.runId],
      )
      const looks = await Promise.all(Array.from({ length: 5 }, () => reclaim()))
      await worker.query('COMMIT')
      expect([...looks.flat(), ...(await reclaim())]).toEqual([])
    } finally {
      worker.release()
    }
    expect((await readRun(lease.runId)).run.status).toBe('SUCCEEDED')
  })

  it('eight janitors at once do what one does', async () => {
    const leases: Lease[] = []
    for (let no = 0; no < 20; no += 1) leases.push(await t.running())
    await expire()
    const janitors = Array.from({ length: 8 }, () => createReclaim(t.database.pool))
    const reclaimed = (await Promise.all(janitors.map((janitor) => janitor({ limit: 7 })))).flat()
    for (;;) {
      const more = await createReclaim(t.database.pool)({ limit: 7 })
      if (more.length === 0) break
      reclaimed.push(...more)
    }
    expect(reclaimed.map(({ runId }) => runId).toSorted()).toEqual(leases.map(({ runId }) => runId).toSorted())
    const counts = await t.database.query('SELECT DISTINCT reclaim_count, event_seq FROM model_runs')
    expect(counts).toEqual([{ reclaim_count: 1, event_seq: 3 }])
  })

  it('a page full of rows that are locked does not hide the others', async () => {
    const locked = [await t.running(), await t.running()]
    const free = await t.running()
    await expire()
    const other = await t.database.pool.connect()
    try {
      await other.query('BEGIN')
      const ids = locked.map(({ runId }) => runId)
      await other.query('SELECT FROM model_runs WHERE id = ANY($1) FOR UPDATE', [ids])
      expect(await reclaim(2)).toMatchObject([{ runId: free.runId }])
      await other.query('COMMIT')
    } finally {
      other.release()
    }
  })

  it('rows that were locked before are reclaimed by the next look back', async () => {
    const lease = await t.running()
    await expire()
    const janitor = createReclaim(t.database.pool, 0)
    const other = await t.database.pool.connect()
    try {
      await other.query('BEGIN')
      await other.query('SELECT FROM model_runs WHERE id = $1 FOR UPDATE', [lease.runId])
      expect(await janitor({ limit: 10 })).toEqual([])
      await other.query('COMMIT')
    } finally {
      other.release()
    }
    const found = await until(async () => (await janitor({ limit: 10 }))[0], { what: 'the look back finds it' })
    expect(found.runId).toBe(lease.runId)
  })

  it.each(['reclaim', 'confirm'] as const)('%s: runs whose rows are damaged do not keep the others', async (what) => {
    const damaged = [await t.running(), await t.running()]
    const healthy = await t.running()
    for (const { runId } of [...damaged, healthy]) if (what === 'confirm') await t.store.cancel(runId)
    for (const { runId } of damaged)
      await t.database.query(
        `INSERT INTO run_events (run_id, seq, type, at) SELECT id, event_seq + 1, 'by hand', clock() FROM model_runs
         WHERE id = $1`,
        [runId],
      )
    await expire()
    const round = () => (what === 'reclaim' ? reclaim(2) : t.store.confirmOverdueCancels({ afterMs: 1, limit: 2 }))
    // A statement that failed may hold its rows a moment longer, so the first look may find less.
    const taken = await until(async () => (await round().catch(() => []))[0], { what: 'the healthy run is taken' })
    expect(taken.runId).toBe(healthy.runId)
    const told = () =>
      round().then(
        () => null,
        (error: Error) => error,
      )
    const damage = await until(told, { what: 'the damage is told when there is nothing else' })
    expect(damage.message).toContain('run_events_pkey')
  })

  it('a cancel that nobody confirms is ended after its time, not before', async () => {
    const lease = await t.running()
    const other = await t.running()
    await t.store.cancel(lease.runId)
    expect(await t.store.confirmOverdueCancels({ afterMs: 60_000, limit: 10 })).toEqual([])
    await t.database.shiftClock('61 seconds')
    const ended = await t.store.confirmOverdueCancels({ afterMs: 60_000, limit: 10 })
    expect(ended).toMatchObject([{ runId: lease.runId, status: 'CANCELLED', workerId: WORKER }])
    const { run, attempts } = await readRun(lease.runId)
    expect(run).toMatchObject({ status: 'CANCELLED', reclaimCount: 0, leaseOwner: null })
    expect(attempts[0]).toMatchObject({ state: 'CANCELLED', error: { class: 'Cancelled' } })
    expect(await t.events(lease.runId)).toEqual(['created', 'started', 'cancel_requested', 'cancelled'])
    expect((await readRun(other.runId)).run.status).toBe('RUNNING')
  })

  it('a success that comes after such an end is discarded and recorded', async () => {
    const lease = await t.running()
    await t.store.cancel(lease.runId)
    await t.database.shiftClock('61 seconds')
    await t.store.confirmOverdueCancels({ afterMs: 60_000, limit: 10 })
    expect(await t.store.settle(settlementOf(lease, 'succeed'))).toEqual({ status: 'stale', repeated: false })
    expect((await t.events(lease.runId)).at(-1)).toBe('late_result_discarded')
  })

  async function untilSomeoneWaits(): Promise<void> {
    await until(async () => (await t.database.query('SELECT FROM pg_locks WHERE NOT granted')).length > 0, {
      what: 'a statement waits for a lock',
    })
  }
})
