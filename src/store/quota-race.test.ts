/** Submits and reservations at the same moment: never one too many, never one too few, whoever asks. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { key, newRun, slot } from '../../test/support/new-run.ts'
import { openTransaction } from '../../test/support/open-transaction.ts'
import { putRule } from '../../test/support/quotas.ts'
import { accepted, openTestStore, ownModel, settle, type TestStore } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import { Refusal } from '../run/errors.ts'
import { ADMISSION_PARTS } from './admission-parts.ts'
import { createAdmission } from './admit.ts'
import { ALONE_PATIENCE } from './admit-batch.ts'
import { insertRuns } from './insert-runs.ts'
import { createLanes } from './lanes.ts'
import { openStore } from './open-store.ts'
import type { NewRun, Store, Submitted } from './store.ts'

const admission = createAdmission(ADMISSION_PARTS)

describe('quotas under load', () => {
  let t: TestStore
  let stores: Store[]
  beforeAll(async () => {
    t = await openTestStore('18')
    stores = [t.store, openStore({ url: t.database.url }), openStore({ url: t.database.url })]
  })
  afterAll(async () => {
    await Promise.all(stores.slice(1).map((store) => store.close()))
    await t.close()
  })

  const codesOf = (answers: (Submitted | Refusal | unknown)[]) =>
    answers.flatMap((answer) => (answer instanceof Refusal ? answer.code : []))
  const reservation = (owner: string, more: { ttlSeconds?: number; model?: string } = {}) => ({
    id: randomUUID(),
    owner,
    model: null,
    ttlSeconds: 300,
    cost: null,
    ...more,
  })
  const used = async (owner: string) => (await t.store.quotas.usage({ owner, model: '' }))[0]

  const untilOneWaits = () =>
    until(
      async () =>
        (await t.database.query(`SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory'`)).length > 0,
      {
        what: 'the second waits for the first',
        everyMs: 5,
      },
    )

  /** All of an admission but its commit. */
  async function admitted(run: NewRun) {
    const lanes = createLanes()
    await lanes.ensure(t.database.pool, [run])
    return openTransaction(t.database.pool, async (client) => {
      const begun = await admission.begin(client, [run], ALONE_PATIENCE)
      return admission.admit(client, [run], begun, lanes.of)
    })
  }

  it.each(['COMMIT', 'ROLLBACK'] as const)('R177: two requests at 4 of 5, the first ends with %s', async (how) => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 5 })
    for (let no = 0; no < 4; no += 1) await t.add({ owner })
    const first = await admitted(newRun({ owner }))
    expect(first.answer?.created.size).toBe(1)
    const second = t.store.submit(newRun({ owner }))
    await untilOneWaits()
    await first.end(how)
    const answer = await second
    if (how === 'ROLLBACK') expect(accepted(answer as Submitted).idempotentHit).toBe(false)
    else {
      expect(answer).toMatchObject({
        code: 'quota-exceeded',
        detail: 'Quota exceeded: Maximum 5 concurrent runs allowed',
        extra: { rule: { owner, model: null, together: false }, limit: 'max_concurrent', maximum: 5, used: 5 },
      })
      expect((answer as Refusal).extra?.holders).toHaveLength(5)
    }
    expect((await used(owner))?.used).toBe(5)
  })

  it('200 submits at once at a limit of 5, through three stores: 5 are accepted', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 5 })
    const runs = Array.from({ length: 200 }, (_, no) => newRun({ owner, ...(no % 2 && { key: key(`storm-${no}`) }) }))
    const answers = await Promise.all(runs.map((run, no) => stores[no % 3]!.submit(run)))
    expect(answers.filter((answer) => !(answer instanceof Refusal))).toHaveLength(5)
    expect(new Set(codesOf(answers))).toEqual(new Set(['quota-exceeded']))
    const [row] = await t.database.query('SELECT count(*) AS runs FROM model_runs WHERE owner = $1', [owner])
    expect(row).toEqual({ runs: 5 })
    // Of those that were refused nothing is left, not even the key.
    const keys = await t.database.query('SELECT FROM idempotency_keys WHERE owner = $1', [owner])
    expect(keys.length).toBeLessThanOrEqual(5)
  })

  it('submits, reservations, consumes and releases at once never hold more than 5', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 5 })
    const reserve = async (store: Store, no: number) => {
      const wanted = reservation(owner)
      const answer = await store.reservations.reserve(wanted)
      if (answer instanceof Refusal) return answer
      if (no % 3 === 0) return store.reservations.release(wanted.id, owner)
      return store.submit(newRun({ owner, reservationId: wanted.id }))
    }
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, no) => {
        const store = stores[no % 3]!
        return no % 2 ? reserve(store, no) : store.submit(newRun({ owner }))
      }),
    )
    expect(new Set(codesOf(answers))).toEqual(new Set(['quota-exceeded']))
    const [row] = await t.database.query<{ runs: number }>('SELECT count(*) AS runs FROM model_runs WHERE owner = $1', [
      owner,
    ])
    expect(row!.runs).toBeLessThanOrEqual(5)
    expect(await used(owner)).toMatchObject({ used: row!.runs, sources: { runs: row!.runs, reservations: 0 } })
    expect(await t.store.quotas.check()).toEqual([])
  })

  it('with workers that finish meanwhile, at no instant more than 5 are active', async () => {
    const owner = randomUUID()
    const model = ownModel()
    await putRule(t.store, { owner, max_concurrent: 5 })
    const claimed = { queues: [{ queue: 'default', room: 5 }], models: [{ model, version: '1', room: 5 }], slots: 5 }
    let isOver = false
    async function work(): Promise<void> {
      while (!isOver) {
        const leases = await t.claim(claimed)
        await Promise.all(leases.map((lease, no) => settle(t, lease, no % 3 ? 'succeed' : 'fail')))
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const working = work()
    let count = 0
    async function ask(store: Store): Promise<void> {
      while (count < 60) {
        const answer = await store.submit(newRun({ owner, model }))
        if (!(answer instanceof Refusal)) count += 1
      }
    }
    await Promise.all([...stores, ...stores].map(ask)).finally(() => {
      isOver = true
    })
    await working
    const [row] = await t.database.query<{ most: number; runs: number }>(
      `SELECT max(active) AS most, count(*) FILTER (WHERE change = 1) AS runs FROM (
         SELECT sum(change) OVER (ORDER BY at, change) AS active, change FROM (
           SELECT e.at, CASE WHEN e.type = 'created' THEN 1 ELSE -1 END AS change
           FROM run_events e JOIN model_runs r ON r.id = e.run_id
           WHERE r.owner = $1 AND (e.type = 'created' OR e.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED'))) AS changes) AS walk`,
      [owner],
    )
    expect(row!.runs).toBeGreaterThanOrEqual(60)
    expect(row!.most).toBeLessThanOrEqual(5)
  })

  it('a submit in flight that has not seen the rule counts as soon as the rule is set', async () => {
    const owner = randomUUID()
    const early = newRun({ owner })
    const lanes = createLanes()
    await lanes.ensure(t.database.pool, [early])
    const inFlight = await openTransaction(t.database.pool, async (client) => {
      // Its snapshot is taken, and nothing written yet, so it has no number that others could see.
      await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT FROM quotas')
      return null
    })
    const setting = putRule(t.store, { owner, max_concurrent: 1 })
    const isNoted = `SELECT FROM quotas WHERE owner = $1 AND cardinality(awaits) > 0`
    await until(async () => (await t.database.query(isNoted, [owner])).length > 0, {
      what: 'the rule waits',
      everyMs: 5,
    })
    expect((await insertRuns(inFlight.client, [early], lanes.of)).isCreated(early)).toBe(true)
    await inFlight.end('COMMIT')
    expect((await setting).countedAt).not.toBeNull()
    expect(codesOf([await t.store.submit(newRun({ owner }))])).toEqual(['quota-exceeded'])
    expect(await t.store.quotas.check()).toEqual([])
  })

  it('a submit in one batch with others of many owners, models and names never deadlocks', async () => {
    const owners = Array.from({ length: 4 }, () => randomUUID())
    const models = Array.from({ length: 3 }, ownModel)
    await putRule(t.store, { model: models[0]!, together: true, max_concurrent: 40 })
    for (const owner of owners) {
      await putRule(t.store, { owner, max_concurrent: 30 })
      await putRule(t.store, { owner, model: models[1]!, runs_per_hour: 15 })
    }
    const pick = <T>(from: T[]): T => from[Math.floor(Math.random() * from.length)]!
    const make = () => {
      const names = [{}, { key: key(`mixed-${Math.floor(Math.random() * 20)}`) }, { slot: slot() }]
      const parameters = { no: Math.floor(Math.random() * 20) }
      return newRun({ owner: pick(owners), model: pick(models), parameters, ...pick(names) })
    }
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, no) => {
        const store = stores[no % 3]!
        return no % 2 ? store.submitMany(Array.from({ length: 10 }, make)) : Promise.all([store.submit(make())])
      }),
    )
    const codes = new Set(codesOf(answers.flat()))
    codes.delete('quota-exceeded')
    codes.delete('idempotency-key-reused')
    expect(codes).toEqual(new Set())
    expect(await t.store.quotas.check()).toEqual([])
  })
})
