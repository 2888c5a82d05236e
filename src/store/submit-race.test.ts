/** Requests for one name at the same time: one run, everybody gets it, nobody else waits for them, nothing deadlocks. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { key, newRun, slot } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { accepted, openTestStore, type TestStore } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import { Refusal } from '../run/errors.ts'
import { openPool } from './connect.ts'
import { insertRuns } from './insert-runs.ts'
import { openStore } from './open-store.ts'
import type { NewRun, Store, Submitted } from './store.ts'

const NAMES = {
  key: () => ({ key: key(`race-${Math.random()}`) }),
  slot: () => ({ slot: slot() }),
  retry: () => ({ retryOf: randomUUID() }),
}
const KINDS = ['key', 'slot', 'retry'] as const

describe.each(postgresVersions)('submit races on Postgres %s', (server) => {
  let t: TestStore
  let other: Store
  beforeAll(async () => {
    t = await openTestStore(server)
    other = openStore({ url: t.database.url })
    // The lane exists, so that a transaction held open below holds nothing but its name and its run.
    await t.add()
  })
  afterAll(async () => {
    await other.close()
    await t.close()
  })

  const twinOf = ({ parameters, key, slot, retryOf }: NewRun) => newRun({ parameters, key, slot, retryOf })
  const idOf = (answer: Submitted | Refusal) => (answer instanceof Refusal ? answer.code : answer.run.id)

  /** The statement of a submit, executed and not committed until told. */
  async function held(run: NewRun): Promise<{ end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> }> {
    const client = await t.database.pool.connect()
    await client.query('BEGIN')
    const inserted = await insertRuns(client, [run], () => 1)
    expect(inserted.isCreated(run)).toBe(true)
    let open = true
    async function end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
      if (!open) return
      open = false
      await client.query(how)
      client.release()
    }
    onTestFinished(() => end('ROLLBACK'))
    return { end }
  }

  const untilOneWaits = () =>
    until(async () => (await t.database.query('SELECT FROM pg_locks WHERE NOT granted')).length > 0, {
      what: 'a submit waits for the name',
      everyMs: 5,
    })

  describe.each(KINDS)('a %s whose request is still committing', (kind) => {
    it('commits: the waiting request gets its run', async () => {
      const first = newRun(NAMES[kind]())
      const holder = await held(first)
      const waiting = t.store.submit(twinOf(first))
      await untilOneWaits()
      await holder.end('COMMIT')
      expect(accepted(await waiting)).toMatchObject({ run: { id: first.id }, idempotentHit: true })
    })

    it('rolls back: the waiting request makes the run', async () => {
      const first = newRun(NAMES[kind]())
      const holder = await held(first)
      const second = twinOf(first)
      const waiting = t.store.submit(second)
      await untilOneWaits()
      await holder.end('ROLLBACK')
      expect(accepted(await waiting)).toMatchObject({ run: { id: second.id }, idempotentHit: false })
    })
  })

  it('takes more than two seconds: busy; neighbours of the same commit and later requests do not wait', async () => {
    const first = newRun({ key: key('slow') })
    const holder = await held(first)
    const startedAt = performance.now()
    const answeredAfterMs = async (run: NewRun) => {
      const answer = await t.store.submit(run)
      return { answer, ms: performance.now() - startedAt }
    }
    const blocked = Promise.all(Array.from({ length: 30 }, () => answeredAfterMs(twinOf(first))))
    const neighbours = Promise.all(Array.from({ length: 5 }, () => answeredAfterMs(newRun({ slot: slot() }))))
    await untilOneWaits()
    const later = Promise.all(Array.from({ length: 5 }, () => answeredAfterMs(newRun())))
    for (const { answer, ms } of [...(await neighbours), ...(await later)]) {
      expect(accepted(answer).idempotentHit).toBe(false)
      expect(ms).toBeLessThan(1_500)
    }
    const busy = await blocked
    await holder.end('COMMIT')
    expect(new Set(busy.map(({ answer }) => idOf(answer)))).toEqual(new Set(['busy']))
    expect(Math.min(...busy.map(({ ms }) => ms))).toBeGreaterThan(2_000)
    expect(Math.max(...busy.map(({ ms }) => ms))).toBeLessThan(5_000)
    expect(accepted(await t.store.submit(twinOf(first)))).toMatchObject({ run: { id: first.id }, idempotentHit: true })
  })

  it.each(KINDS)('50 requests with one %s at once, through two stores, make one run and all get it', async (kind) => {
    const first = newRun(NAMES[kind]())
    const runs = [first, ...Array.from({ length: 49 }, () => twinOf(first))]
    const answers = (await Promise.all(runs.map((run, no) => (no % 2 ? other : t.store).submit(run)))).map(accepted)
    expect(new Set(answers.map(({ run }) => run.id)).size).toBe(1)
    expect(answers.filter(({ idempotentHit }) => !idempotentHit)).toHaveLength(1)
    const [row] = await t.database.query('SELECT count(*) AS runs FROM model_runs WHERE payload_hash = $1', [
      first.payloadHash,
    ])
    expect(row).toEqual({ runs: 1 })
  })

  it('R373 in a race: two payloads with one key at once, one is accepted and the other refused', async () => {
    for (let round = 0; round < 20; round += 1) {
      const name = key(`clash-${round}`)
      const answers = await Promise.all([t.store, other].map((store) => store.submit(newRun({ key: name }))))
      const codes = answers.map((answer) => (answer instanceof Refusal ? answer.code : 'accepted')).toSorted()
      expect(codes).toEqual(['accepted', 'idempotency-key-reused'])
    }
  })

  it('two batches that want the same names in opposite order never deadlock', async () => {
    const pools = [1, 2].map(() => openPool({ url: t.database.url, name: 'order', max: 1, pinPlans: true }))
    for (let round = 0; round < 20; round += 1) {
      const runs = Array.from({ length: 50 }, (_, no) =>
        newRun(no % 2 ? { key: key(`order-${round}-${no}`) } : { slot: slot() }),
      )
      const twins = runs.map(twinOf).toReversed()
      const [ours, theirs] = await Promise.all([
        insertRuns(pools[0]!, runs, () => 1),
        insertRuns(pools[1]!, twins, () => 1),
      ])
      expect([...runs.filter(ours.isCreated), ...twins.filter(theirs.isCreated)]).toHaveLength(50)
    }
    await Promise.all(pools.map((pool) => pool.end()))
  })

  it('two stores that submit overlapping batches in opposite order: every name has one run, no deadlock', async () => {
    for (let round = 0; round < 10; round += 1) {
      const runs = Array.from({ length: 40 }, (_, no) => newRun({ key: key(`overlap-${round}-${no}`), slot: slot() }))
      const batches = [t.store.submitMany(runs), other.submitMany(runs.map(twinOf).toReversed())]
      const [ours, theirs] = await Promise.all(batches)
      expect(theirs!.map(idOf).toReversed()).toEqual(ours!.map(idOf))
    }
    const [row] = await t.database.query('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()')
    expect(row).toEqual({ deadlocks: 0 })
  })
})
