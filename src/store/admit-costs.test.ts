/** Limits of cost at admission: what fits, what is told, and that many at once never pass a limit. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { openAdmission, untilOneWaits } from '../../test/support/open-admission.ts'
import { putRule, type RuleOptions } from '../../test/support/quotas.ts'
import { openTestStore, ownModel, settle, type TestStore } from '../../test/support/store.ts'
import { Refusal } from '../run/errors.ts'
import { openStore } from './open-store.ts'
import type { NewRun, Submitted } from './store.ts'

let owners = 0

describe('limits of cost', () => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore('18')
  })
  afterAll(() => t.close())

  const costly = (owner: string, estimate: number, more: Partial<NewRun> = {}): NewRun =>
    newRun({
      owner,
      cost: { estimate, ratePerSecond: null, onFailure: 'actual', onCancel: 'actual', currency: 'USD' },
      ...more,
    })
  const submit = (owner: string, estimate: number, more: Partial<NewRun> = {}) =>
    t.store.submit(costly(owner, estimate, more))
  const isAccepted = (answer: Submitted | Refusal): answer is Submitted => !(answer instanceof Refusal)
  const refusalOf = (answer: Submitted | Refusal): Refusal => {
    if (answer instanceof Refusal) return answer
    throw new Error('it was accepted')
  }
  async function ownerWith(limits: Omit<RuleOptions, 'owner'>): Promise<string> {
    owners += 1
    const owner = `owner-${owners}`
    await putRule(t.store, { owner, ...limits })
    return owner
  }
  const usageOf = async (owner: string, model = '') =>
    (await t.store.quotas.usage({ owner, model })).map(({ limit, used, sources }) => [
      limit,
      used,
      sources.held,
      sources.settled,
    ])
  /** A run that has ended and cost so much. */
  async function spent(owner: string, amount: number): Promise<void> {
    const lease = await t.running({ owner, cost: costly(owner, 0).cost! })
    await settle(t, lease, 'succeed', { cost: { reported: amount } })
  }

  it('what is held and settled and asked for must fit, to the last cent', async () => {
    const owner = await ownerWith({ cost_per_day: 0.3 })
    await spent(owner, 0.1)
    expect(isAccepted(await submit(owner, 0.1))).toBe(true)
    expect(refusalOf(await submit(owner, 0.100001)).code).toBe('cost-limit-exceeded')
    expect(isAccepted(await submit(owner, 0.1))).toBe(true)
    expect(refusalOf(await submit(owner, 0.000001)).code).toBe('cost-limit-exceeded')
    expect(await usageOf(owner)).toEqual([['cost_per_day', 0.3, 0.2, 0.1]])
  })

  it('a refusal names the amounts, the period, the currency, the rule and the holders, and leaves nothing behind', async () => {
    const owner = await ownerWith({ cost_per_month: 100 })
    await spent(owner, 60)
    const first = await submit(owner, 30)
    const asked = costly(owner, 12.5)
    const refusal = refusalOf(await t.store.submit(asked))
    expect(refusal.message).toBe(
      'Cost limit exceeded: Maximum 100.00 USD per month allowed; 60.00 USD spent, 30.00 USD held, 12.50 USD more asked for',
    )
    expect(refusal.extra).toMatchObject({
      rule: { owner, model: null, together: false },
      limit: 'cost_per_month',
      maximum: 100,
      used: 90,
      settled: 60,
      held: 30,
      estimate: 12.5,
      currency: 'USD',
      holders: [(first as Submitted).run.id],
    })
    expect(await t.store.costs.of(asked.id)).toBeNull()
  })

  it('from four fifths on it is told, and a rule that only warns lets it pass', async () => {
    const owner = await ownerWith({ cost_per_day: 10, action: 'warn' })
    const warnings = async (estimate: number) => ((await submit(owner, estimate)) as Submitted).warnings ?? []
    expect(await warnings(7.9)).toEqual([])
    expect(await warnings(0.1)).toMatchObject([{ limit: 'cost_per_day', maximum: 10, used: 8 }])
    expect(await warnings(5)).toMatchObject([{ limit: 'cost_per_day', maximum: 10, used: 13 }])
  })

  it('a rule that asks for approval keeps the run waiting, and what it costs is held meanwhile', async () => {
    const owner = await ownerWith({ cost_per_day: 10, action: 'require_approval' })
    const answer = (await submit(owner, 11)) as Submitted
    const blocks = await t.database.query('SELECT reason, detail FROM run_blocks WHERE run_id = $1', [answer.run.id])
    expect(blocks).toMatchObject([
      { reason: 'approval', detail: { rule: { limit: 'cost_per_day', maximum: 10, used: 0 } } },
    ])
    expect(await t.store.costs.of(answer.run.id)).toMatchObject({ state: 'HELD', held: 11 })
  })

  it('a run without a cost is not limited', async () => {
    const owner = await ownerWith({ cost_per_day: 0 })
    expect(isAccepted(await t.store.submit(newRun({ owner })))).toBe(true)
    expect(isAccepted(await submit(owner, 0))).toBe(true)
    expect(isAccepted(await submit(owner, 0.01))).toBe(false)
  })

  it('limits within a model, of an owner and of everyone together all hold', async () => {
    const model = ownModel()
    const other = ownModel()
    await putRule(t.store, { model, together: true, cost_per_day: 10 })
    const [a, b] = [await ownerWith({ model, cost_per_day: 7 }), await ownerWith({ cost_per_day: 5 })]
    expect(isAccepted(await submit(a, 6, { model }))).toBe(true)
    expect(isAccepted(await submit(a, 2, { model }))).toBe(false)
    expect(isAccepted(await submit(a, 100, { model: other }))).toBe(true)
    expect(refusalOf(await submit(b, 4.5, { model })).extra).toMatchObject({
      rule: { owner: '*', together: true },
      used: 6,
    })
    expect(isAccepted(await submit(b, 4, { model }))).toBe(true)
    expect(refusalOf(await submit(b, 2, { model: other })).extra).toMatchObject({ rule: { owner: b }, used: 4 })
    expect(await usageOf(b, model)).toEqual([
      ['cost_per_day', 4, 4, 0],
      ['cost_per_day', 10, 10, 0],
    ])
  })

  it('what was spent counts until its day and its month are over, rolled up or not, and what is held stays held', async () => {
    const owner = await ownerWith({ cost_per_day: 10, cost_per_month: 15 })
    const at = (time: string) =>
      t.database.query(
        `CREATE OR REPLACE FUNCTION holdfast.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
         AS $$ SELECT timestamptz '${time}' + (statement_timestamp() - '${new Date().toISOString()}') $$`,
      )
    await at('2031-01-30 23:00:00+00')
    await spent(owner, 8)
    expect(isAccepted(await submit(owner, 3))).toBe(false)
    await t.store.costs.roll(100)
    expect(isAccepted(await submit(owner, 3))).toBe(false)
    await at('2031-01-31 01:00:00+00')
    expect(isAccepted(await submit(owner, 3))).toBe(true)
    expect(await usageOf(owner)).toEqual([
      ['cost_per_day', 3, 3, 0],
      ['cost_per_month', 11, 3, 8],
    ])
    expect(refusalOf(await submit(owner, 5)).extra).toMatchObject({ limit: 'cost_per_month' })
    await at('2031-02-01 01:00:00+00')
    expect(await usageOf(owner)).toEqual([
      ['cost_per_day', 3, 3, 0],
      ['cost_per_month', 3, 3, 0],
    ])
    expect(isAccepted(await submit(owner, 7))).toBe(true)
    await t.database.shiftClock('0')
  })

  it('a reservation holds its cost until it is used, given back or over; a run that uses it takes the hold over', async () => {
    const owner = await ownerWith({ cost_per_day: 10 })
    const reserve = (cost: number) =>
      t.store.reservations.reserve({ id: randomUUID(), owner, model: null, ttlSeconds: 60, cost })
    const reserved = await reserve(6)
    if (reserved instanceof Refusal) throw reserved
    expect(await usageOf(owner)).toEqual([['cost_per_day', 6, 6, 0]])
    expect(isAccepted(await submit(owner, 5))).toBe(false)
    expect((await reserve(5)) as Refusal).toMatchObject({ code: 'cost-limit-exceeded' })
    const reservationId = reserved.reservation.id
    expect(isAccepted(await submit(owner, 11, { reservationId }))).toBe(false)
    expect(isAccepted(await submit(owner, 8, { reservationId }))).toBe(true)
    expect(await usageOf(owner)).toEqual([['cost_per_day', 8, 8, 0]])
    expect(await reserve(2)).not.toBeInstanceOf(Refusal)
    await t.database.shiftClock('2 minutes')
    expect(await usageOf(owner)).toEqual([['cost_per_day', 8, 8, 0]])
    await t.database.shiftClock('0')
  })

  it('many at once, on three processes, never pass the limit and use it up', async () => {
    const owner = await ownerWith({ cost_per_day: 10 })
    const stores = [t.store, openStore({ url: t.database.url }), openStore({ url: t.database.url })]
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, no) => stores[no % 3]!.submit(costly(owner, [3, 2][no % 2]!))),
    )
    await Promise.all(stores.slice(1).map((store) => store.close()))
    expect(answers.filter((answer) => answer instanceof Refusal && answer.code !== 'cost-limit-exceeded')).toEqual([])
    const [[, used] = []] = await usageOf(owner)
    // What is left would have fit nobody.
    expect(used).toBeGreaterThan(8)
    expect(used).toBeLessThanOrEqual(10)
  })

  it.each([
    ['COMMIT', ['accepted', 'cost-limit-exceeded']],
    ['ROLLBACK', ['accepted', 'accepted']],
    ['cut', ['accepted', 'accepted']],
  ] as const)('two submits at 6 of 10, each asking for 3, and the first ends with %s', async (how, expected) => {
    const owner = await ownerWith({ cost_per_day: 10 })
    await spent(owner, 2)
    await submit(owner, 4)
    const [first, second] = [costly(owner, 3), costly(owner, 3)]
    const open = await openAdmission(t.database.pool, [first])
    onTestFinished(() => open.end('ROLLBACK'))
    const answering = t.store.submit(second)
    await untilOneWaits(t.database.pool)
    // What the first has written is not to be seen by others yet, so only waiting helps.
    expect(await usageOf(owner)).toEqual([['cost_per_day', 6, 4, 2]])
    await open.end(how)
    const answer = await answering
    const isFirstIn = open.outcome?.created.size === 1 ? 'accepted' : 'refused'
    expect([isFirstIn, isAccepted(answer) ? 'accepted' : answer.code]).toEqual(expected)
    expect(await usageOf(owner)).toEqual([['cost_per_day', 9, 7, 2]])
    const held = await Promise.all([first, second].map(({ id }) => t.store.costs.of(id)))
    expect(held.map((costs) => costs !== null)).toEqual([how === 'COMMIT', how !== 'COMMIT'])
  })

  it('a reservation and a submit at the same moment share what is left', async () => {
    const owner = await ownerWith({ cost_per_month: 10 })
    const open = await openAdmission(t.database.pool, [costly(owner, 6)])
    onTestFinished(() => open.end('ROLLBACK'))
    const wanted = { id: randomUUID(), owner, model: null, ttlSeconds: 60, cost: 5 }
    const reserving = t.store.reservations.reserve(wanted)
    await untilOneWaits(t.database.pool)
    await open.end('COMMIT')
    expect(await reserving).toMatchObject({ code: 'cost-limit-exceeded' })
    expect(await t.store.reservations.reserve({ ...wanted, id: randomUUID(), cost: 4 })).not.toBeInstanceOf(Refusal)
  })

  it('several in one batch are judged one after the other', async () => {
    const owner = await ownerWith({ cost_per_day: 10 })
    const answers = await t.store.submitMany([4, 4, 4, 2].map((estimate) => costly(owner, estimate)))
    expect(answers.map(isAccepted)).toEqual([true, true, false, true])
  })

  it('a limit counts what was held before it was set', async () => {
    owners += 1
    const owner = `owner-${owners}`
    await submit(owner, 6)
    await putRule(t.store, { owner, cost_per_day: 10 })
    expect(isAccepted(await submit(owner, 5))).toBe(false)
  })
})
