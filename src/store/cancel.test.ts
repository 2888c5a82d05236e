/** Cancel against everything a run can be doing, and against a success in both orders. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore, WORKER } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'

describe.each(postgresVersions)('cancel on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  it('a waiting run is CANCELLED at once and never claimed', async () => {
    const run = await t.add({ model: 'waiting' })
    const cancelled = await t.store.cancel(run.id)
    expect(cancelled).toMatchObject({ outcome: 'cancelled', run: { status: 'CANCELLED', attemptCount: 0 } })
    expect(await t.claim({ models: [{ model: 'waiting', version: '1', room: 1 }] })).toEqual([])
    expect(await t.events(run.id)).toEqual(['created', 'cancelled'])
  })

  it('a running one is asked to stop; the answer names the holder', async () => {
    const lease = await t.running()
    const cancelled = await t.store.cancel(lease.runId)
    expect(cancelled).toMatchObject({ outcome: 'requested', holder: WORKER, run: { status: 'RUNNING' } })
    expect(await t.events(lease.runId)).toEqual(['created', 'started', 'cancel_requested'])
  })

  it('asking again changes and records nothing', async () => {
    const lease = await t.running()
    const first = await t.store.cancel(lease.runId)
    expect(await t.store.cancel(lease.runId)).toEqual(first)
    const waiting = await t.add()
    const ended = await t.store.cancel(waiting.id)
    expect(await t.store.cancel(waiting.id)).toEqual(ended)
    expect(await t.events(waiting.id)).toHaveLength(2)
  })

  it.each(['succeed', 'fail'] as const)('after %s it comes too late and says so', async (kind) => {
    const lease = await t.running()
    await settle(t, lease, kind)
    const status = kind === 'succeed' ? 'SUCCEEDED' : 'FAILED'
    expect(await t.store.cancel(lease.runId)).toMatchObject({ outcome: 'already-finished', run: { status } })
    expect(await t.events(lease.runId)).toHaveLength(3)
  })

  it('an unknown run is not found', async () => {
    expect(await t.store.cancel('00000000-0000-7000-8000-000000000000')).toEqual({ outcome: 'not-found' })
  })

  it('a success that is committing when the cancel comes wins, and the cancel says so', async () => {
    const lease = await t.running()
    const worker = await t.database.pool.connect()
    try {
      await worker.query('BEGIN')
      await worker.query(
        `UPDATE model_runs SET status = 'SUCCEEDED', finished_at = clock(), result_ref = 'inline', result_hash = 'f',
           lease_owner = NULL, lease_expires_at = NULL, deadline_at = NULL WHERE id = $1`,
        [lease.runId],
      )
      const cancelling = t.store.cancel(lease.runId)
      await untilOneWaits()
      await worker.query('COMMIT')
      expect(await cancelling).toMatchObject({ outcome: 'already-finished', run: { status: 'SUCCEEDED' } })
    } finally {
      worker.release()
    }
  })

  it('a run that goes back to waiting while the cancel waits for it is CANCELLED at once', async () => {
    const lease = await t.running()
    const worker = await t.database.pool.connect()
    try {
      await worker.query('BEGIN')
      await worker.query(
        `UPDATE model_runs SET status = 'PENDING', lease_owner = NULL, lease_expires_at = NULL, deadline_at = NULL
         WHERE id = $1`,
        [lease.runId],
      )
      const cancelling = t.store.cancel(lease.runId)
      await untilOneWaits()
      await worker.query('COMMIT')
      expect(await cancelling).toMatchObject({ outcome: 'cancelled', run: { status: 'CANCELLED' } })
    } finally {
      worker.release()
    }
  })

  it('a cancel that is committing when the success comes does not take it away', async () => {
    const lease = await t.running()
    const other = await t.database.pool.connect()
    try {
      await other.query('BEGIN')
      await other.query('UPDATE model_runs SET cancel_requested_at = clock() WHERE id = $1', [lease.runId])
      const settling = settle(t, lease, 'succeed')
      await untilOneWaits()
      await other.query('COMMIT')
      expect(await settling).toEqual({ status: 'SUCCEEDED', repeated: false })
    } finally {
      other.release()
    }
  })

  it.each(['retry', 'release'] as const)('a cancel that is committing when a %s comes ends the run', async (kind) => {
    const lease = await t.running()
    const other = await t.database.pool.connect()
    try {
      await other.query('BEGIN')
      await other.query('UPDATE model_runs SET cancel_requested_at = clock() WHERE id = $1', [lease.runId])
      const settling = settle(t, lease, kind)
      await untilOneWaits()
      await other.query('COMMIT')
      expect(await settling).toEqual({ status: 'CANCELLED', repeated: false })
    } finally {
      other.release()
    }
  })

  it('cancel and success at once: one wins, and both are told the same', async () => {
    for (let round = 0; round < 20; round += 1) {
      const lease = await t.running()
      const [cancelled, settled] = await Promise.all([t.store.cancel(lease.runId), settle(t, lease, 'succeed')])
      expect(settled.status).toBe('SUCCEEDED')
      expect(['requested', 'already-finished']).toContain(cancelled.outcome)
      const { run } = (await t.store.readRun(lease.runId))!
      expect(run.status).toBe('SUCCEEDED')
      expect(run.cancelRequestedAt === null).toBe(cancelled.outcome === 'already-finished')
    }
  })

  it('cancel and claim at once: the run is CANCELLED or asked to stop, never lost', async () => {
    for (let round = 0; round < 20; round += 1) {
      const run = await t.add({ model: `claimed-${round}` })
      const models = [{ model: run.model, version: '1', room: 1 }]
      const [cancelled, leases] = await Promise.all([t.store.cancel(run.id), t.claim({ models })])
      expect(cancelled.outcome).toBe(leases.length === 1 ? 'requested' : 'cancelled')
    }
  })

  async function untilOneWaits(): Promise<void> {
    await until(async () => (await t.database.query('SELECT FROM pg_locks WHERE NOT granted')).length > 0, {
      what: 'a statement waits for the row',
      everyMs: 5,
    })
  }
})
