/** How attempts end: every kind as the table of transitions says, fenced by the lease, and recorded once whatever is lost on the way. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { type FaultProxy, startProxy } from '../../test/support/proxy.ts'
import { openTestStore, ownModel, settle, settlementOf, type TestStore, WORKER } from '../../test/support/store.ts'
import { nextRun, type RunEvent } from '../run/transition.ts'
import { openPool } from './connect.ts'
import { beat } from './heartbeat.ts'
import { createSettle, type Settle } from './settle.ts'
import type { Lease, SettleKind } from './store.ts'

const EVENT_OF: Record<SettleKind, RunEvent> = {
  succeed: 'succeed',
  fail: 'fail',
  retry: 'retry',
  cancel: 'confirm_cancel',
  release: 'release',
  lost: 'lose',
}
const WAITS_AFTER: Partial<Record<SettleKind, string>> = { release: 'released', lost: 'lost', retry: 'retry_scheduled' }
const KINDS = Object.keys(EVENT_OF) as SettleKind[]

describe.each(postgresVersions)('settle on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  const readRun = async (runId: string) => (await t.store.readRun(runId))!
  const claimAgain = async (lease: Lease, workerId = WORKER) =>
    (await t.claim({ workerId, models: [{ model: lease.model, version: '1', room: 1 }] }))[0]!

  /** The lease expires and another worker takes the run. */
  async function loseTo(lease: Lease, workerId: string): Promise<Lease> {
    await t.database.query(`UPDATE model_runs SET lease_expires_at = clock() - interval '1 second' WHERE id = $1`, [
      lease.runId,
    ])
    await t.store.reclaimExpired({ workerId, limit: 100 })
    return claimAgain(lease, workerId)
  }

  describe.each([false, true])('with cancel requested: %s', (cancelRequested) => {
    it.each(KINDS)('%s ends run and attempt as the table says', async (kind) => {
      const lease = await t.running()
      if (cancelRequested) await t.store.cancel(lease.runId)
      const expected = nextRun(EVENT_OF[kind], 'RUNNING', { cancelRequested, attemptsLeft: true })
      const settled = await settle(t, lease, kind)
      const { run, attempts } = await readRun(lease.runId)
      expect({ ok: true, status: run.status, attempt: attempts[0]!.state }).toEqual(expected)
      expect(settled).toEqual({ status: run.status, repeated: false })
      expect(run).toMatchObject({ leaseOwner: null, leaseExpiresAt: null, leaseEpoch: 1 })
      expect(run.reclaimCount).toBe(kind === 'lost' ? 1 : 0)
      expect(attempts[0]!.finishedAt).not.toBeNull()
      expect(run.finishedAt === null).toBe(run.status === 'PENDING')
      const names = { SUCCEEDED: 'succeeded', FAILED: 'failed', CANCELLED: 'cancelled', RUNNING: '' }
      const last = run.status === 'PENDING' ? WAITS_AFTER[kind] : names[run.status]
      const events = await t.events(lease.runId)
      expect(events.slice(2)).toEqual(cancelRequested ? ['cancel_requested', last] : [last])
      expect(run.eventSeq).toBe(events.length)
    })
  })

  it('a success stores the result with the run, byte for byte', async () => {
    const lease = await t.running()
    const text = '{"b":1.0,"a":"ü","a2":[1e21]}'
    await settle(t, lease, 'succeed', { result: { ref: 'inline', hash: 'h', text } })
    const { run, text: stored } = (await t.store.readResult(lease.runId))!
    expect([stored, run.resultRef, run.resultHash]).toEqual([text, 'inline', 'h'])
  })

  it('R130: before success there is no result, and none after failure', async () => {
    const lease = await t.running()
    expect((await t.store.readResult(lease.runId))!.text).toBeNull()
    await settle(t, lease, 'fail')
    const { run, text } = (await t.store.readResult(lease.runId))!
    expect([text, run.resultRef, run.resultHash]).toEqual([null, null, null])
  })

  it('a large result leaves only its reference', async () => {
    const lease = await t.running()
    await settle(t, lease, 'succeed', { result: { ref: 'disk:x', hash: 'h', text: null } })
    const { run, text } = (await t.store.readResult(lease.runId))!
    expect([text, run.resultRef]).toEqual([null, 'disk:x'])
  })

  it('a retry waits its delay and shows the error on run, attempt and event', async () => {
    const lease = await t.running()
    const error = { class: 'Timeout', message: 'too slow', stack: 'at x', exitCode: 137 }
    await settle(t, lease, 'retry', { delaySeconds: 90, error })
    const { run, attempts, waiting } = await readRun(lease.runId)
    expect(run.lastError).toEqual({ class: 'Timeout', message: 'too slow', attempt: 1 })
    expect(attempts[0]).toMatchObject({
      exitCode: 137,
      error: { class: 'Timeout', message: 'too slow', stack: 'at x' },
    })
    expect(run.availableAt.getTime() - attempts[0]!.finishedAt!.getTime()).toBe(90_000)
    expect(waiting?.reason).toBe('backoff')
    const [event] = await t.database.query(
      `SELECT message, data->>'error_class' AS class, (data->>'available_at')::timestamptz = $2 AS at FROM run_events
       WHERE run_id = $1 AND type = 'retry_scheduled'`,
      [lease.runId, run.availableAt],
    )
    expect(event).toMatchObject({ message: 'too slow', class: 'Timeout' })
  })

  it('a release keeps the place in the queue and does not use up an attempt', async () => {
    const lease = await t.running({ maxAttempts: 1 })
    const before = (await readRun(lease.runId)).run
    await settle(t, lease, 'release')
    expect((await readRun(lease.runId)).run).toMatchObject({
      availableAt: before.availableAt,
      attemptCount: 1,
      releaseCount: 1,
    })
  })

  it('a success after a failed attempt keeps what the last error was', async () => {
    const first = await t.running()
    await settle(t, first, 'retry')
    const second = await claimAgain(first)
    await settle(t, second, 'succeed')
    expect((await readRun(first.runId)).run).toMatchObject({ status: 'SUCCEEDED', lastError: { attempt: 1 } })
  })

  it('a retry without an attempt left ends the run FAILED, since no claim could take it again', async () => {
    const lease = await t.running({ maxAttempts: 1 })
    expect(await settle(t, lease, 'retry')).toMatchObject({ status: 'FAILED' })
    const { run, attempts } = await readRun(lease.runId)
    expect([run.status, attempts.map(({ state }) => state)]).toEqual(['FAILED', ['FAILED']])
  })

  describe('stale', () => {
    it.each(KINDS)('%s under an old epoch changes nothing and is recorded', async (kind) => {
      const old = await t.running({ maxAttempts: 5 })
      const current = await loseTo(old, 'worker-2')
      const before = await readRun(old.runId)
      expect(await settle(t, old, kind)).toEqual({ status: 'stale', repeated: false })
      const after = await readRun(old.runId)
      expect(after).toEqual({ ...before, run: { ...before.run, eventSeq: before.run.eventSeq + 1 } })
      const [event] = await t.database.query(
        `SELECT attempt, worker_id, data FROM run_events WHERE run_id = $1 AND type = 'late_result_discarded'`,
        [old.runId],
      )
      expect(event).toEqual({ attempt: 1, worker_id: WORKER, data: { epoch: 1, reported: kind } })
      expect((await settle(t, current, 'succeed', { workerId: 'worker-2' })).status).toBe('SUCCEEDED')
    })

    it('is recorded on a finished run as well, of which nothing else changes', async () => {
      const old = await t.running()
      const current = await loseTo(old, 'worker-2')
      await settle(t, current, 'fail', { workerId: 'worker-2' })
      const before = await readRun(old.runId)
      expect(await settle(t, old, 'succeed')).toEqual({ status: 'stale', repeated: false })
      const after = await readRun(old.runId)
      expect(after).toEqual({ ...before, run: { ...before.run, eventSeq: before.run.eventSeq + 1 } })
      expect((await t.events(old.runId)).at(-1)).toBe('late_result_discarded')
    })

    it('another worker cannot settle with the right epoch', async () => {
      const lease = await t.running()
      expect(await settle(t, lease, 'succeed', { workerId: 'thief' })).toMatchObject({ status: 'stale' })
      expect((await readRun(lease.runId)).run.status).toBe('RUNNING')
    })

    it('an expired lease alone takes nothing from its holder', async () => {
      const lease = await t.running({}, WORKER, 1)
      await t.database.shiftClock('1 hour')
      expect(await settle(t, lease, 'succeed')).toEqual({ status: 'SUCCEEDED', repeated: false })
      await t.database.shiftClock('0')
    })

    it('old and current holder settling in one batch: each gets its own answer', async () => {
      const old = await t.running()
      const current = await loseTo(old, WORKER)
      const answers = await Promise.all([settle(t, old, 'fail'), settle(t, current, 'succeed')])
      expect(answers).toEqual([
        { status: 'stale', repeated: false },
        { status: 'SUCCEEDED', repeated: false },
      ])
      expect(await t.events(old.runId)).toContain('late_result_discarded')
    })

    it('two late reports of one run in one batch are both recorded', async () => {
      const first = await t.running({ maxAttempts: 5 })
      const second = await loseTo(first, WORKER)
      await loseTo(second, 'worker-3')
      const answers = await Promise.all([settle(t, first, 'fail'), settle(t, second, 'succeed')])
      expect(answers.map(({ status }) => status)).toEqual(['stale', 'stale'])
      const late = (await t.events(first.runId)).filter((type) => type === 'late_result_discarded')
      expect(late).toHaveLength(2)
    })
  })

  it('many at once: each has its own answer, a lost lease and a result that cannot be stored among them', async () => {
    const [good, lost, bad] = [await t.running(), await t.running(), await t.running()]
    await loseTo(lost, 'other')
    const notJson = { ref: 'inline', hash: 'a'.repeat(64), text: '{' }
    const answers = await t.store.settleAll([
      settlementOf(good, 'succeed'),
      settlementOf(lost, 'succeed'),
      settlementOf(bad, 'succeed', { result: notJson }),
    ])
    expect(answers).toEqual([
      { status: 'SUCCEEDED', repeated: false },
      { status: 'stale', repeated: false },
      expect.any(Error),
    ])
    expect((await readRun(bad.runId)).run.status).toBe('RUNNING')
  })

  it('a run that was changed since its claim, and so lies elsewhere, is settled all the same', async () => {
    const [beaten, cancelled, still] = [await t.running(), await t.running(), await t.running()]
    await t.beat(beaten)
    await t.store.cancel(cancelled.runId)
    const answers = await t.store.settleAll([beaten, cancelled, still].map((lease) => settlementOf(lease, 'succeed')))
    expect(answers).toEqual(answers.map(() => ({ status: 'SUCCEEDED', repeated: false })))
    for (const { runId } of [beaten, cancelled, still])
      expect((await t.events(runId)).filter((event) => event === 'succeeded')).toHaveLength(1)
  })

  it('where another run lies by now, that one is left alone', async () => {
    const [lease, other] = [await t.running(), await t.running()]
    expect(await settle(t, { ...lease, row: other.row }, 'succeed')).toEqual({ status: 'SUCCEEDED', repeated: false })
    expect((await readRun(other.runId)).run.status).toBe('RUNNING')
  })

  it('a row found where it was is worth nothing without its lease', async () => {
    const lease = await t.running()
    const next = await loseTo(lease, 'other')
    const late = settlementOf({ ...lease, row: next.row }, 'succeed')
    expect(await t.store.settle(late)).toEqual({ status: 'stale', repeated: false })
    expect((await readRun(lease.runId)).run.status).toBe('RUNNING')
  })

  describe('a lost reply', () => {
    let proxy: FaultProxy
    let lossy: Settle['settle']
    let closePool: () => Promise<void>

    beforeAll(async () => {
      const { hostname, port } = new URL(t.database.url)
      proxy = await startProxy({ host: hostname, port: Number(port) })
      const pool = openPool({ url: proxy.through(t.database.url), name: 'lossy', pinPlans: true })
      lossy = createSettle({ pool }).settle
      closePool = () => pool.end()
    })
    afterAll(async () => {
      await closePool()
      await proxy.close()
    })

    it.each(KINDS)('%s committed, reply lost: the repeat finds it and records nothing twice', async (kind) => {
      const lease = await t.running()
      const settlement = settlementOf(lease, kind)
      const dropped = proxy.dropNextReply((text) => text.includes('UPDATE model_runs'))
      await expect(lossy(settlement)).rejects.toThrow()
      await dropped
      const { run } = await readRun(lease.runId)
      expect(await lossy(settlement)).toEqual({ status: run.status, repeated: true })
      expect(await t.events(lease.runId)).toHaveLength(3)
    })

    it('not committed: the repeat settles', async () => {
      const lease = await t.running()
      const dropped = proxy.dropNextRequest((text) => text.includes('UPDATE model_runs'))
      await expect(lossy(settlementOf(lease, 'succeed'))).rejects.toThrow()
      await dropped
      expect(await lossy(settlementOf(lease, 'succeed'))).toEqual({ status: 'SUCCEEDED', repeated: false })
    })

    it('the same settlement twice in one batch is one settlement', async () => {
      const lease = await t.running()
      const answers = await Promise.all([settle(t, lease, 'succeed'), settle(t, lease, 'succeed')])
      expect(answers.map(({ status }) => status)).toEqual(['SUCCEEDED', 'SUCCEEDED'])
      expect(answers.map(({ repeated }) => repeated)).toEqual([false, true])
      expect(await t.events(lease.runId)).toHaveLength(3)
    })
  })

  it('one result that is no JSON fails alone; its neighbours are settled', async () => {
    const model = ownModel()
    await t.store.submitMany(Array.from({ length: 10 }, () => newRun({ model })))
    const leases = await t.claim({ slots: 10, models: [{ model, version: '1', room: 10 }] })
    const outcomes = await Promise.allSettled(
      leases.map((lease, no) => {
        const text = no === 3 ? '{broken' : 'null'
        return settle(t, lease, 'succeed', { result: { ref: 'inline', hash: 'h', text } })
      }),
    )
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(leases.map((_, no) => no !== 3))
    expect((await readRun(leases[3]!.runId)).run.status).toBe('RUNNING')
    for (const no of [0, 9]) expect((await readRun(leases[no]!.runId)).run.status).toBe('SUCCEEDED')
  })

  it('settles and heartbeats over the same 500 runs at once, in any order, never deadlock', async () => {
    const model = ownModel()
    const runs = Array.from({ length: 500 }, () => newRun({ model, maxAttempts: 100 }))
    await t.store.submitMany(runs)
    const heart = openPool({ url: t.database.url, name: 'heart', max: 3, pinPlans: true })
    for (let round = 0; round < 10; round += 1) {
      const claim = {
        slots: 500,
        queues: [{ queue: 'default', room: 500 }],
        models: [{ model, version: '1', room: 500 }],
      }
      const leases = await t.claim(claim)
      expect(leases).toHaveLength(500)
      const shuffled = leases.map((lease) => ({ lease, at: Math.random() })).toSorted((a, b) => a.at - b.at)
      const beats = Array.from({ length: 6 }, () =>
        beat(heart, { workerId: WORKER, leaseMs: 60_000, deadlineGraceMs: 0, leases: leases.toReversed() }),
      )
      const settles = shuffled.map(({ lease }) => settle(t, lease, round === 9 ? 'succeed' : 'retry'))
      await Promise.all([...beats, ...settles])
    }
    await heart.end()
    const [row] = await t.database.query('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()')
    expect(row).toEqual({ deadlocks: 0 })
  })
})
