/** No run in a queue with fair share is ever stuck: whoever is missing among the waiting owners is found, whatever made the run wait. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillFair, setFair } from '../../test/support/fill-fair.ts'
import { newRun } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { accepted, openTestStore, settlementOf, type TestStore } from '../../test/support/store.ts'
import { createClaim } from './claim.ts'
import { createListMissing, listOwners } from './fair-owners.ts'
import { createLanes } from './lanes.ts'
import type { Lease, NewRun } from './store.ts'
import { createSubmit } from './submit.ts'

describe.each(postgresVersions)('waiting owners on Postgres %s', (server) => {
  let t: TestStore
  let queues = 0
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  async function ownQueue(): Promise<string> {
    queues += 1
    const queue = `waiting-${queues}`
    await setFair(t.database, queue)
    return queue
  }

  /** As a process that has just been started. */
  const claim = (queue: string, slots = 10): Promise<Lease[]> =>
    createClaim({ pool: t.database.pool })({
      workerId: 'worker-1',
      leaseMs: 60_000,
      slots,
      queues: [{ queue, room: null }],
      models: [{ model: 'forecast', version: '1', room: null }],
    })
  const submit = async (changes: Partial<NewRun>) => {
    const { pool } = t.database
    const answer = await createSubmit({ batchPool: pool, singlePool: pool }).one(newRun(changes))
    return accepted(answer).run.id
  }
  const idsOf = (leases: Lease[]) => leases.map(({ runId }) => runId).sort()
  const forget = (queue: string) => t.database.query('DELETE FROM fair_owners WHERE queue = $1', [queue])
  const passes = async (queue: string) =>
    Object.fromEntries(
      (
        await t.database.query<{ owner: string; pass: number }>(
          'SELECT owner, pass FROM fair_owners WHERE queue = $1 ORDER BY owner',
          [queue],
        )
      ).map(({ owner, pass }) => [owner, pass]),
    )

  it('a submit puts the run into a lane of its owner and lists the owner', async () => {
    const queue = await ownQueue()
    await submit({ queue, owner: 'ann' })
    expect(await passes(queue)).toEqual({ ann: 0 })
    const lanes = await t.database.query('SELECT owner, lane < 0 AS negative FROM lanes WHERE queue = $1', [queue])
    expect(lanes).toEqual([{ owner: 'ann', negative: true }])
  })

  it('other queues have no lanes of owners and nobody is listed for them', async () => {
    await submit({ queue: 'plain', owner: 'ann' })
    expect(await t.database.query(`SELECT owner FROM lanes WHERE queue = 'plain'`)).toEqual([{ owner: '' }])
    expect(await passes('plain')).toEqual({})
  })

  it('runs of owners that are missing, for whatever reason, are claimed', async () => {
    const queue = await ownQueue()
    const runs = [await submit({ queue, owner: 'ann' }), await submit({ queue, owner: 'ben' })]
    await forget(queue)
    expect(idsOf(await claim(queue))).toEqual(runs.sort())
  })

  it('a busy worker finds a missing owner at its next look back', async () => {
    const queue = await ownQueue()
    await fillFair(t.database, { queue, owners: ['busy'], runsEach: 200 })
    const missing = await submit({ queue, owner: 'missing' })
    await t.database.query(`DELETE FROM fair_owners WHERE queue = $1 AND owner = 'missing'`, [queue])
    const claimNext = createClaim({ pool: t.database.pool, lookBackMs: 0 })
    const taken: string[] = []
    for (let no = 0; no < 100 && !taken.includes(missing); no += 1) {
      const leases = await claimNext({
        workerId: 'worker-1',
        leaseMs: 60_000,
        slots: 2,
        queues: [{ queue, room: null }],
        models: [{ model: 'forecast', version: '1', room: null }],
      })
      taken.push(...idsOf(leases))
    }
    expect(taken).toContain(missing)
  })

  it.each(['retry', 'release', 'lost'] as const)(
    'a run that goes back to its lane after %s is claimed again',
    async (kind) => {
      const queue = await ownQueue()
      const run = await submit({ queue, owner: 'ann' })
      const [lease] = await claim(queue)
      expect(await claim(queue)).toEqual([])
      expect(await passes(queue)).toEqual({})
      await t.store.settle(settlementOf(lease!, kind, { delaySeconds: 0 }))
      expect(idsOf(await claim(queue))).toEqual([run])
    },
  )

  it('a run of a dead worker is claimed again', async () => {
    const queue = await ownQueue()
    const run = await submit({ queue, owner: 'ann' })
    await claim(queue)
    await claim(queue)
    await t.database.query(`UPDATE model_runs SET lease_expires_at = clock() - interval '1 second' WHERE id = $1`, [
      run,
    ])
    await t.store.reclaimExpired({ workerId: 'janitor', limit: 10 })
    await t.database.query('UPDATE model_runs SET available_at = clock() WHERE id = $1', [run])
    expect(idsOf(await claim(queue))).toEqual([run])
  })

  it('a run for later is claimed once it is due', async () => {
    const queue = await ownQueue()
    const later = new Date(Date.now() + 3_600_000).toISOString()
    const run = await submit({ queue, owner: 'ann', availableAt: later })
    expect(await claim(queue)).toEqual([])
    expect(await claim(queue)).toEqual([])
    expect(await passes(queue)).toEqual({})
    await t.database.query('UPDATE model_runs SET available_at = clock() WHERE id = $1', [run])
    expect(idsOf(await claim(queue))).toEqual([run])
  })

  it('missing owners are looked for in bounded steps that go through all lanes', async () => {
    const queue = await ownQueue()
    const owners = Array.from({ length: 1_200 }, (_, no) => `o-${no}`)
    await fillFair(t.database, { queue, owners, runsEach: 1 })
    await forget(queue)
    const listMissing = createListMissing(t.database.pool)
    const found = [await listMissing(), await listMissing(), await listMissing()]
    expect(Math.max(...found)).toBeLessThanOrEqual(500)
    expect(Object.keys(await passes(queue))).toHaveLength(1_200)
    expect(await listMissing()).toBe(0)
  })

  it('whoever comes starts at the lowest pass of those who wait', async () => {
    const queue = await ownQueue()
    await fillFair(t.database, { queue, owners: ['ann', 'ben'], runsEach: 1 })
    await t.database.query(`UPDATE fair_owners SET pass = CASE owner WHEN 'ann' THEN 7 ELSE 9 END WHERE queue = $1`, [
      queue,
    ])
    await submit({ queue, owner: 'cai' })
    expect(await passes(queue)).toEqual({ ann: 7, ben: 9, cai: 7 })
  })

  it('whoever comes back at once keeps what it is ahead, up to one step', async () => {
    const queue = await ownQueue()
    await fillFair(t.database, { queue, owners: ['ann', 'ben', 'cai'], runsEach: 1 })
    await t.database.query(
      `UPDATE fair_owners SET leaving = owner > 'ann', pass = CASE owner WHEN 'ann' THEN 7 WHEN 'ben' THEN 7.5 ELSE 90 END WHERE queue = $1`,
      [queue],
    )
    const waiting = { queue, model: 'forecast', modelVersion: '1' }
    await listOwners(t.database.pool, [
      { ...waiting, owner: 'ben' },
      { ...waiting, owner: 'cai' },
    ])
    expect(await passes(queue)).toEqual({ ann: 7, ben: 7.5, cai: 8 })
  })

  it('a submit beside a claim that deletes its owner’s row lists the owner again', async () => {
    const queue = await ownQueue()
    const waiting = { queue, owner: 'ann', model: 'forecast', modelVersion: '1' }
    await listOwners(t.database.pool, [waiting])
    await t.database.query('UPDATE fair_owners SET leaving = true WHERE queue = $1', [queue])
    const client = await t.database.pool.connect()
    await client.query('BEGIN')
    await client.query('DELETE FROM fair_owners WHERE queue = $1', [queue])
    const listed = listOwners(t.database.pool, [waiting])
    await client.query('COMMIT')
    client.release()
    await listed
    expect(await passes(queue)).toEqual({ ann: 0 })
  })

  describe('switching', () => {
    it('on: runs that wait in the lane of nobody and those of owners start in turns', async () => {
      const queue = await ownQueue()
      await setFair(t.database, queue, false)
      const { pool } = t.database
      const before = await createSubmit({ batchPool: pool, singlePool: pool }).many(
        Array.from({ length: 6 }, () => newRun({ queue, owner: 'first' })),
      )
      expect(before.map((answer) => 'run' in answer)).not.toContain(false)
      await setFair(t.database, queue)
      const run = await submit({ queue, owner: 'second' })
      const claimNext = createClaim({ pool })
      const order: string[] = []
      for (let no = 0; no < 7; no += 1) {
        const [lease] = await claimNext({
          workerId: 'worker-1',
          leaseMs: 60_000,
          slots: 1,
          queues: [{ queue, room: null }],
          models: [{ model: 'forecast', version: '1', room: null }],
        })
        order.push(lease!.runId)
      }
      expect(new Set(order).size).toBe(7)
      expect(order.slice(0, 2)).toContain(run)
    })

    it('off: lanes of owners are emptied, and new runs need not wait for that', async () => {
      const queue = await ownQueue()
      await fillFair(t.database, { queue, owners: ['ann', 'ben'], runsEach: 5 })
      await setFair(t.database, queue, false)
      const run = await submit({ queue, owner: 'cai' })
      const [first, second] = [await claim(queue, 1), await claim(queue, 1)]
      const rest = await claim(queue, 20)
      expect([...first, ...second, ...rest]).toHaveLength(11)
      expect(idsOf(rest).includes(run) || idsOf([...first, ...second]).includes(run)).toBe(true)
    })

    it('off: a run that goes back to the lane of its owner is claimed though nobody is listed', async () => {
      const queue = await ownQueue()
      const run = await submit({ queue, owner: 'ann' })
      const [lease] = await claim(queue)
      await setFair(t.database, queue, false)
      await forget(queue)
      await t.store.settle(settlementOf(lease!, 'release'))
      expect(idsOf(await claim(queue))).toEqual([run])
    })

    it('a process with an old copy puts runs where they are found', async () => {
      const queue = await ownQueue()
      await setFair(t.database, queue, false)
      const { pool } = t.database
      const lanesKnown = createLanes()
      const old = createSubmit({ batchPool: pool, singlePool: pool, lanesKnown })
      const first = accepted(await old.one(newRun({ queue, owner: 'ann' }))).run.id
      await setFair(t.database, queue)
      const second = accepted(await old.one(newRun({ queue, owner: 'ann' }))).run.id
      expect(idsOf(await claim(queue))).toEqual([first, second].sort())
    })
  })
})
