/**
 * Random lives of runs with a cost, on Postgres and on paper (`cost-notes.ts`): rules of every shape, batches, reservations,
 * settles, failures, cancels, retries, submits and janitors that are cut off, answers that are lost, workers that die and come
 * back too late, and a clock that passes days and months.
 *
 * Every request is answered as the paper says, so held + settled never passes a limit at admission; and in the end nothing is
 * held and every day has what was charged to it.
 */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Operation, type OperationOf, operations, rules } from '../../test/support/cost-lives.ts'
import { CostNotes, type Life, type NotedReservation } from '../../test/support/cost-notes.ts'
import { key, newRun } from '../../test/support/new-run.ts'
import { openAdmission } from '../../test/support/open-admission.ts'
import { putRule } from '../../test/support/quotas.ts'
import { openTestStore, settlementOf, type TestStore } from '../../test/support/store.ts'
import { Refusal } from '../run/errors.ts'
import { CLOSE_ENDED } from './close-costs.ts'
import { ROLL_COSTS } from './roll-costs.ts'
import type { Lease, NewRun, Submitted } from './store.ts'

const MAX_ATTEMPTS = 2
/** Every wait is a multiple of so many, so amounts stay whole cents. */
const CENT_PER_100_SECONDS = 0.0001
const HOUR_MS = 3_600_000
const SCENARIOS = 12
/** On a machine that is busy with other things there are fewer. */
const TIME_MAX_MS = 15_000
const OWNERS = ['ana', 'ben']
const MODELS = ['forecast', 'metered']

const EMPTY = `
BEGIN; SET LOCAL holdfast.retention = 'on'; DELETE FROM quotas; DELETE FROM quota_holds; DELETE FROM quota_reservations;
DELETE FROM cost_ledger; DELETE FROM cost_days; DELETE FROM idempotency_keys; COMMIT`

describe('random lives of runs with a cost', () => {
  let t: TestStore
  let notes = new CostNotes([])
  let late: Lease[] = []
  let nowMs = Date.parse('2031-01-28T12:00:00Z')
  beforeAll(async () => {
    t = await openTestStore('18')
  })
  afterAll(() => t.close())

  async function move(ms: number): Promise<void> {
    nowMs += ms
    await t.database.query(
      `CREATE OR REPLACE FUNCTION holdfast.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
       AS $$ SELECT timestamptz '${new Date(nowMs).toISOString()}' $$`,
    )
  }

  /** Fits a request to what is there: an owner, a model, perhaps one of the reservations, and what is left of the limits. */
  function runsOf(asked: OperationOf<'submit'>): NewRun[] {
    const { onFailure, onCancel, hasRate, using, aim } = asked
    const { reservations } = notes
    const reservation = using === null ? undefined : reservations.at(-1 - (using % Math.max(1, reservations.length)))
    const meant = using !== null && using % 4 > 0 ? reservation : undefined
    const names = { owner: meant?.owner ?? OWNERS[asked.owner]!, model: meant?.model ?? MODELS[asked.model]! }
    const room = aim === 'any' ? null : notes.room({ ...names, ...(reservation && { reservation }) }, nowMs)
    const [first = 0, ...others] = asked.cents
    const aimed = room === null ? first : room + (aim === 'a cent more' ? 1 : 0)
    // A reservation is for one run.
    return [aimed, ...(reservation ? [] : others)].map((cents) => {
      const cost = {
        estimate: cents / 100,
        ratePerSecond: hasRate ? CENT_PER_100_SECONDS : null,
        onFailure,
        onCancel,
        currency: null,
      }
      const used = reservation && { reservationId: reservation.id }
      return newRun({ ...names, ...used, maxAttempts: MAX_ATTEMPTS, cost, key: key(randomUUID()) })
    })
  }

  /** What the paper says to it, and notes it when it is accepted. */
  function noted(run: NewRun): string {
    const { owner, model, reservationId } = run
    const { estimate, ratePerSecond, onFailure, onCancel } = run.cost!
    const cents = Math.round(estimate * 100)
    const reservation = notes.reservations.find(({ id }) => id === reservationId)
    if (reservation && reservation.owner !== owner) return 'reservation-not-found'
    if (reservation && !isUsable(reservation, model)) return 'reservation-not-active'
    const verdict = notes.verdict({ owner, model, cents, ...(reservation && { reservation }) }, nowMs)
    if (verdict === 'refused') return 'cost-limit-exceeded'
    if (reservation) reservation.isActive = false
    const life: Life = {
      ...{ id: run.id, owner, model, cents, onFailure, onCancel },
      centsPerSecond: ratePerSecond === null ? null : ratePerSecond * 100,
      ...{ status: 'PENDING', lease: null, attempts: [], releases: 0, isCancelling: false, charged: null, endDay: '' },
    }
    notes.lives.push(life)
    return 'accepted'
  }

  function isUsable({ isActive, untilMs, model }: NotedReservation, wanted: string): boolean {
    return isActive && untilMs > nowMs && (model === null || model === wanted)
  }

  const codeOf = (answer: Submitted | Refusal) => (answer instanceof Refusal ? answer.code : 'accepted')

  async function submit(asked: OperationOf<'submit'>): Promise<void> {
    const runs = runsOf(asked)
    if (asked.trouble === 'cut') await (await openAdmission(t.database.pool, runs)).end('cut')
    const codes = (await t.store.submitMany(runs)).map(codeOf)
    expect(codes).toEqual(runs.map(noted))
    if (asked.trouble !== 'answer lost') return
    const accepted = runs.filter((_, index) => codes[index] === 'accepted')
    // By the store, whose reply of the commit was lost, and by the client, whose request has a run id of its own then.
    const [byStore, byClient] = [accepted, accepted.map((run) => ({ ...run, id: newRun().id }))]
    for (const again of [byStore, byClient]) {
      const found = await t.store.submitMany(again)
      expect(found).toMatchObject(accepted.map(({ id }) => ({ run: { id } })))
    }
  }

  async function reserve({ owner: no, model: within, cents, hours }: OperationOf<'reserve'>): Promise<void> {
    const owner = OWNERS[no]!
    const model = within === null ? null : MODELS[within]!
    const wanted = { id: randomUUID(), owner, model, ttlSeconds: hours * 3_600, cost: cents / 100 }
    const answer = await t.store.reservations.reserve(wanted)
    const verdict = notes.verdict({ owner, model: model ?? '', cents }, nowMs)
    // A place that somebody has to approve is not promised.
    expect(answer instanceof Refusal ? answer.code : 'accepted').toBe(
      verdict === 'accepted' ? verdict : 'cost-limit-exceeded',
    )
    if (verdict !== 'accepted') return
    const untilMs = nowMs + hours * HOUR_MS
    notes.reservations.push({ id: wanted.id, owner, model, cents, untilMs, isActive: true })
  }

  async function release(which: number): Promise<void> {
    const reservation = notes.reservations[which % Math.max(1, notes.reservations.length)]
    if (!reservation) return
    await t.store.reservations.release(reservation.id, reservation.owner)
    reservation.isActive = false
  }

  async function claim(): Promise<void> {
    const models = MODELS.map((model) => ({ model, version: '1', room: 2 }))
    for (const lease of await t.claim({ slots: 2, models })) {
      notes.begin(notes.lives.find(({ id }) => id === lease.runId)!, lease, nowMs)
    }
  }

  /** What an attempt that did not end its run leaves it as. */
  function goOn(life: Life): void {
    const isUsedUp = life.attempts.length - life.releases >= MAX_ATTEMPTS
    if (life.isCancelling) notes.end(life, 'CANCELLED', nowMs)
    else if (isUsedUp) notes.end(life, 'FAILED', nowMs)
    else life.status = 'PENDING'
  }

  async function settle({ kind, cents, isTold, isRepeated }: OperationOf<'settle'>): Promise<void> {
    const life = notes.lives.find(({ status }) => status === 'RUNNING')
    if (!life) return
    const cost = isTold ? { cost: { reported: cents === null ? null : cents / 100 } } : {}
    const settlement = settlementOf(life.lease!, kind, { delaySeconds: 0, ...cost })
    await t.store.settle(settlement)
    if (isRepeated) await t.store.settle(settlement)
    notes.endAttempt(life, nowMs, isTold ? cents : null)
    if (kind === 'release') life.releases += 1
    if (kind === 'retry' || kind === 'release') goOn(life)
    else notes.end(life, kind === 'succeed' ? 'SUCCEEDED' : kind === 'fail' ? 'FAILED' : 'CANCELLED', nowMs)
    if (isTold && life.endDay) notes.close(life)
  }

  async function cancel(life: Life | undefined): Promise<void> {
    if (life?.status !== 'PENDING' && life?.status !== 'RUNNING') return
    await t.store.cancel(life.id)
    if (life.status === 'PENDING') notes.end(life, 'CANCELLED', nowMs)
    else life.isCancelling = true
  }

  /** Every worker dies, and their leases lapse. */
  async function crash(): Promise<void> {
    await move(100_000)
    await t.store.reclaimExpired({ workerId: 'janitor', limit: 200 })
    for (const life of notes.lives.filter(({ status }) => status === 'RUNNING')) {
      late.push(life.lease!)
      notes.endAttempt(life, nowMs)
      goOn(life)
    }
  }

  /** A worker that was taken for dead comes back with its result. */
  async function comeLate(): Promise<void> {
    const lease = late.pop()
    if (!lease) return
    const settled = await t.store.settle(settlementOf(lease, 'succeed', { cost: { reported: 9 } }))
    expect(settled.status).toBe('stale')
  }

  async function tidy(isCut: boolean): Promise<void> {
    if (isCut) {
      const client = await t.database.pool.connect()
      await client.query('BEGIN')
      for (const text of [CLOSE_ENDED, ROLL_COSTS]) await client.query(text, [100])
      await client.query('ROLLBACK')
      client.release()
      return
    }
    await t.store.costs.closeEnded(100)
    await Promise.all([t.store.costs.roll(3), t.store.costs.roll(100)])
    for (const life of notes.lives) if (life.endDay && life.charged === null) notes.close(life)
  }

  /** What people are told of the limits. */
  async function look(): Promise<void> {
    for (const [no, owner] of OWNERS.entries()) {
      const model = MODELS[no]!
      const shown = (await t.store.quotas.usage({ owner, model })).map(({ limit, sources: { held, settled } }) =>
        [limit, Math.round(held! * 100), Math.round(settled! * 100)].join(' '),
      )
      const expected = notes.applied({ owner, model }).flatMap(({ rule, scope }) =>
        (['day', 'month'] as const).flatMap((period) => {
          if (rule[period] === null) return []
          return [`cost_per_${period} ${notes.held(scope, nowMs)} ${notes.settled(scope, period, nowMs)}`]
        }),
      )
      expect(shown.toSorted()).toEqual(expected.toSorted())
    }
  }

  async function perform(asked: Operation): Promise<void> {
    if (asked.do === 'submit') await submit(asked)
    else if (asked.do === 'reserve') await reserve(asked)
    else if (asked.do === 'release') await release(asked.which)
    else if (asked.do === 'claim') await claim()
    else if (asked.do === 'settle') await settle(asked)
    else if (asked.do === 'cancel') await cancel(notes.lives[asked.which % Math.max(1, notes.lives.length)])
    else if (asked.do === 'crash') await crash()
    else if (asked.do === 'come late') await comeLate()
    else if (asked.do === 'janitor') await tidy(asked.isCut)
    else if (asked.do === 'look') await look()
    else await move(asked.hours * HOUR_MS)
  }

  /** All that is left ends, and every reservation lapses. */
  async function finish(): Promise<void> {
    for (const life of notes.lives) await cancel(life)
    await crash()
    await tidy(false)
    await move(49 * HOUR_MS)
    await look()
    expect(notes.held({ owner: null, model: null }, nowMs)).toBe(0)
    expect(await t.database.query(`SELECT FROM cost_ledger WHERE state = 'HELD' OR NOT rolled`)).toEqual([])
    const days = await t.database.query<{ name: string; cents: number }>(
      `SELECT concat_ws(' ', owner, model, day) AS name, (amount * 100)::int AS cents FROM cost_days`,
    )
    expect(new Map(days.map(({ name, cents }) => [name, cents]))).toEqual(notes.days())
  }

  it('hold what they may, and nothing in the end', async () => {
    const check = async (scenario: { rules: CostNotes['rules']; operations: Operation[] }) => {
      await t.clear()
      await t.database.query(EMPTY)
      await move(0)
      notes = new CostNotes(scenario.rules)
      late = []
      for (const { day, month, ...rule } of scenario.rules) {
        const limits = { cost_per_day: day && day / 100, cost_per_month: month && month / 100 }
        await putRule(t.store, { ...rule, ...limits })
      }
      for (const asked of scenario.operations) await perform(asked)
      await finish()
    }
    const scenario = fc.record({ rules: rules(OWNERS[0]!, MODELS), operations })
    const bounds = { numRuns: SCENARIOS, interruptAfterTimeLimit: TIME_MAX_MS, endOnFailure: true }
    await fc.assert(fc.asyncProperty(scenario, check), bounds)
  })
})
