/** Steps committed by the holder of a lease: together with others, in order, and never by one who has lost it. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openExplainingPool } from '../../test/support/explain.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore, WORKER } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import { sha256 } from '../run/canonical.ts'
import { createCommitHeld } from './commit-held-steps.ts'
import type { NewStep } from './ports/steps.ts'
import { haveSteps } from './read-steps.ts'
import type { Lease } from './store.ts'

const LIMITS = { steps: 100, items: 1_000, bytes: 1_000_000 }

function stepOf(name: string, text = '{"n":1}'): NewStep {
  const output = { ref: 'inline', hash: sha256(text), bytes: Buffer.byteLength(text), text }
  return { name, startedAt: null, tries: 1, output }
}

describe.each(postgresVersions)('steps of a holder on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  const commit = (lease: Lease, step: NewStep, limits = LIMITS, workerId = WORKER) =>
    t.store.steps.commitHeld({ ...lease, workerId }, step, limits)
  const namesOf = async ({ runId }: Lease) => (await t.store.steps.list(runId)).map(({ name, no }) => `${no} ${name}`)

  async function waitForALock(): Promise<void> {
    const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await until(async () => (await t.database.query(sql)).length > 0, { what: 'a statement waits for a lock' })
  }

  it('are kept with what they used', async () => {
    const lease = await t.running()
    const startedAt = new Date(Date.now() - 5_000)
    const facts = { startedAt, tries: 2, cpuSeconds: 0.25, peakMemoryBytes: 4_096.4 }
    expect(await commit(lease, { ...stepOf('load'), ...facts })).toBe('kept')
    const [step] = await t.store.steps.list(lease.runId)
    expect(step).toMatchObject({
      name: 'load',
      no: 1,
      attempt: 1,
      ...facts,
      peakMemoryBytes: 4_096,
      runId: lease.runId,
    })
    expect(step!.output).toEqual(stepOf('load').output)
  })

  it('of many runs at once, several of one run, each gets its place without gaps', async () => {
    const leases = await Promise.all([1, 2, 3].map(() => t.running()))
    const all = leases.flatMap((lease) => [0, 1, 2, 3].map((no) => ({ lease, step: stepOf(`pages[${no}]`, `${no}`) })))
    expect(new Set(await Promise.all(all.map(({ lease, step }) => commit(lease, step))))).toEqual(new Set(['kept']))
    for (const lease of leases) {
      expect(await namesOf(lease)).toEqual(['1 pages[0]', '2 pages[1]', '3 pages[2]', '4 pages[3]'])
    }
  })

  it('a repeat is recognised and another output is a conflict, also in the same batch', async () => {
    const lease = await t.running()
    const texts = ['1', '1', '2']
    expect(await Promise.all(texts.map((text) => commit(lease, stepOf('fit', text))))).toEqual([
      'kept',
      'repeated',
      'conflict',
    ])
    expect(await commit(lease, stepOf('fit', '1'))).toBe('repeated')
    expect(await namesOf(lease)).toHaveLength(1)
  })

  it('one that cannot be written fails alone', async () => {
    const leases = await Promise.all([1, 2, 3].map(() => t.running()))
    const bad = { ...stepOf('bad'), output: { ...stepOf('bad').output, text: 'no JSON' } }
    const done = await Promise.allSettled([
      commit(leases[0]!, stepOf('a')),
      commit(leases[1]!, bad),
      commit(leases[1]!, stepOf('b')),
      commit(leases[2]!, stepOf('c')),
    ])
    expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(await namesOf(leases[1]!)).toEqual(['1 b'])
  })

  it('one that is too much leaves room for a smaller one after it', async () => {
    const lease = await t.running()
    const limits = { steps: 2, items: 1, bytes: 20 }
    const texts = ['"aaaaa"', '"aaaaaaaaaaaaaaaaa"', '"bbbbb"', '3']
    const done = await Promise.all(texts.map((text, no) => commit(lease, stepOf(`step ${no}`, text), limits)))
    expect(done).toEqual(['kept', 'full', 'kept', 'full'])
    expect(await commit(lease, stepOf('pages[0]', '1'), limits)).toBe('kept')
    expect(await commit(lease, stepOf('pages[1]', '1'), limits)).toBe('full')
    expect(await namesOf(lease)).toEqual(['1 step 0', '2 step 2', '3 pages[0]'])
  })

  it('limits count steps of programs that did not count them', async () => {
    const lease = await t.running()
    await t.database.query(
      `INSERT INTO run_steps (run_id, name, no, attempt, finished_at, tries, output, output_ref, output_hash, output_bytes)
       SELECT $1, 'old ' || n, n, 1, clock(), 1, '1', 'inline', 'f', 10 FROM generate_series(1, 3) n`,
      [lease.runId],
    )
    expect(await commit(lease, stepOf('a', '1'), { ...LIMITS, steps: 3 })).toBe('full')
    expect(await commit(lease, stepOf('a', '1'), { ...LIMITS, bytes: 30 })).toBe('full')
    expect(await commit(lease, stepOf('a', '1'), { ...LIMITS, steps: 4, bytes: 31 })).toBe('kept')
    expect((await namesOf(lease)).at(-1)).toBe('4 a')
  })

  it.each(['retry', 'fail', 'release', 'succeed', 'cancel'] as const)(
    'after a settle (%s) nothing is kept',
    async (kind) => {
      const lease = await t.running({ maxAttempts: 3 })
      await settle(t, lease, kind)
      expect(await commit(lease, stepOf('a'))).toBe('lost')
      expect(await namesOf(lease)).toEqual([])
    },
  )

  it('another worker, attempt or epoch commits nothing, nor hinders who holds the lease', async () => {
    const lease = await t.running()
    const answers = await Promise.all([
      commit(lease, stepOf('a'), LIMITS, 'worker-2'),
      commit({ ...lease, epoch: lease.epoch - 1 }, stepOf('b')),
      commit({ ...lease, attempt: lease.attempt + 1 }, stepOf('c')),
      commit(lease, stepOf('d')),
    ])
    expect(answers).toEqual(['lost', 'lost', 'lost', 'kept'])
    expect(await namesOf(lease)).toEqual(['1 d'])
  })

  it('a reclaim that is being committed is waited for, and then the lease is lost', async () => {
    const lease = await t.running()
    const other = await t.database.pool.connect()
    try {
      await other.query('BEGIN')
      await other.query(`UPDATE run_attempts SET state = 'LOST', finished_at = clock() WHERE run_id = $1`, [
        lease.runId,
      ])
      const committing = commit(lease, stepOf('a'))
      await waitForALock()
      await other.query('COMMIT')
      expect(await committing).toBe('lost')
      expect(await namesOf(lease)).toEqual([])
    } finally {
      other.release()
    }
  })

  it('an adoption that is being committed is waited for, and then the old epoch is lost', async () => {
    const lease = await t.running()
    const other = await t.database.pool.connect()
    try {
      await other.query('BEGIN')
      await other.query('UPDATE run_attempts SET lease_epoch = lease_epoch + 1 WHERE run_id = $1', [lease.runId])
      const committing = commit(lease, stepOf('a'))
      await waitForALock()
      await other.query('COMMIT')
      expect(await committing).toBe('lost')
    } finally {
      other.release()
    }
  })

  it('a twin of a sending whose answer was lost, on another connection, is recognised and numbers stay gapless', async () => {
    const lease = await t.running()
    const fence = { ...lease, workerId: WORKER }
    const twins = [1, 2, 3, 4].map(() => createCommitHeld({ pool: t.database.pool }))
    const names = ['a', 'b', 'c']
    const done = await Promise.all(twins.flatMap((twin) => names.map((name) => twin(fence, stepOf(name), LIMITS))))
    expect(done.filter((is) => is === 'kept')).toHaveLength(3)
    expect(done.filter((is) => is === 'repeated')).toHaveLength(9)
    expect((await t.store.steps.list(lease.runId)).map(({ no }) => no)).toEqual([1, 2, 3])
  })

  it('nothing of it reads history, whatever the tables looked like when the plans were made', async () => {
    const lease = await t.running()
    const fence = { ...lease, workerId: WORKER }
    for (const tables of ['as they are', 'analysed while nearly empty']) {
      if (tables !== 'as they are') await t.database.query('ANALYZE run_steps, run_attempts, run_step_sources')
      const pool = await openExplainingPool({ url: t.database.url, name: 'test', pinPlans: true })
      await createCommitHeld({ pool })(fence, stepOf(tables), LIMITS)
      await haveSteps(pool, [lease.runId])
      const explained = pool.take()
      expect(explained).toHaveLength(2)
      const scans = explained.flatMap(({ nodes }) => nodes.filter((node) => node['Node Type'] === 'Seq Scan'))
      expect(scans.map((node) => node['Relation Name'])).toEqual([])
      await pool.close()
    }
  })

  it('states of steps are written for an open attempt only, by its epoch', async () => {
    const lease = await t.running({ maxAttempts: 3 })
    const state = {
      name: 'a',
      state: 'RUNNING' as const,
      tries: 1,
      started_at: new Date().toISOString(),
      last_error: null,
    }
    expect(await t.store.steps.states(lease.runId)).toBeNull()
    await t.store.steps.saveStates([{ fence: { ...lease, epoch: 99 }, states: [state] }])
    expect(await t.store.steps.states(lease.runId)).toBeNull()
    await t.store.steps.saveStates([{ fence: lease, states: [state] }])
    await settle(t, lease, 'retry')
    await t.store.steps.saveStates([{ fence: lease, states: [] }])
    expect(await t.store.steps.states(lease.runId)).toEqual({ attempt: 1, states: [state] })
  })
})
