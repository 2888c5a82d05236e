/** Reservations: what holds a place and until when, who may use it, and what is left of it. */

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { key, newRun } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { putRule } from '../../test/support/quotas.ts'
import { accepted, openTestStore, ownModel, type TestStore } from '../../test/support/store.ts'
import { Refusal } from '../run/errors.ts'
import type { NewReservation, Reservation } from './ports/reservations.ts'
import type { NewRun } from './store.ts'

describe.each(postgresVersions)('reservations on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())
  afterEach(() => t.database.shiftClock('0'))

  const wanted = (owner: string, more: Partial<NewReservation> = {}): NewReservation => ({
    id: randomUUID(),
    owner,
    model: null,
    ttlSeconds: 300,
    cost: null,
    ...more,
  })
  const reserve = async (owner: string, more?: Partial<NewReservation>): Promise<Reservation> => {
    const answer = await t.store.reservations.reserve(wanted(owner, more))
    if (answer instanceof Refusal) throw answer
    return answer.reservation
  }
  const submitWith = async (reservationId: string, changes: Partial<NewRun>) => {
    const answer = await t.store.submit(newRun({ reservationId, ...changes }))
    return answer instanceof Refusal ? answer.code : answer.run.id
  }
  const stateOf = async (id: string) => (await t.store.reservations.find(id, null))?.state

  it('R142: an active one holds a place', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 1 })
    const { id, state, runId } = await reserve(owner)
    expect({ state, runId }).toEqual({ state: 'ACTIVE', runId: null })
    expect(await t.store.submit(newRun({ owner }))).toMatchObject({ code: 'quota-exceeded', extra: { holders: [id] } })
    expect(await t.store.reservations.reserve(wanted(owner))).toMatchObject({ code: 'quota-exceeded' })
  })

  it('R143: consumed by a submit, the run counts in its stead', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 1 })
    const { id } = await reserve(owner)
    const runId = await submitWith(id, { owner })
    expect(await t.store.reservations.find(id, owner)).toMatchObject({ state: 'CONSUMED', runId })
    expect(await t.store.quotas.usage({ owner, model: '' })).toMatchObject([
      { used: 1, sources: { runs: 1, reservations: 0 } },
    ])
    expect(await t.database.query('SELECT reservation FROM model_runs WHERE id = $1', [runId])).toEqual([
      { reservation: id },
    ])
  })

  it('one is good for one run, also within a batch', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 5 })
    const { id } = await reserve(owner)
    const runs = Array.from({ length: 3 }, () => newRun({ owner, reservationId: id }))
    const answers = await Promise.all(runs.map((run) => t.store.submit(run)))
    const codes = answers.map((answer) => (answer instanceof Refusal ? answer.code : 'accepted')).sort()
    expect(codes).toEqual(['accepted', 'reservation-not-active', 'reservation-not-active'])
  })

  it('without any rule it is consumed all the same', async () => {
    const owner = randomUUID()
    const { id } = await reserve(owner)
    const runId = await submitWith(id, { owner })
    expect(await t.store.reservations.find(id, owner)).toMatchObject({ state: 'CONSUMED', runId })
  })

  it('R144: past its time it counts no more, whether or not anybody has marked it', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 1 })
    const { id } = await reserve(owner, { ttlSeconds: 60 })
    await t.database.shiftClock('61 seconds')
    expect(await stateOf(id)).toBe('EXPIRED')
    expect(await submitWith(id, { owner })).toBe('reservation-not-active')
    await t.add({ owner })
    expect(await t.store.reservations.release(id, owner)).toMatchObject({ outcome: 'not-active' })
    await t.store.reservations.tidy(100)
    expect(await t.database.query('SELECT state FROM quota_reservations WHERE reservation_id = $1', [id])).toEqual([
      { state: 'EXPIRED' },
    ])
  })

  it('R145: released, the place is free at once; again changes nothing', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 1 })
    const { id } = await reserve(owner)
    expect(await t.store.reservations.release(id, owner)).toMatchObject({ outcome: 'released' })
    expect(await t.store.reservations.release(id, owner)).toMatchObject({ outcome: 'released' })
    expect(await submitWith(id, { owner })).toBe('reservation-not-active')
    await t.add({ owner })
  })

  it("somebody else's is not there", async () => {
    const { id } = await reserve(randomUUID())
    const other = randomUUID()
    expect(await submitWith(id, { owner: other })).toBe('reservation-not-found')
    expect(await submitWith(randomUUID(), { owner: other })).toBe('reservation-not-found')
    expect(await t.store.reservations.find(id, other)).toBeNull()
    expect(await t.store.reservations.release(id, other)).toEqual({ outcome: 'not-found' })
    expect(await stateOf(id)).toBe('ACTIVE')
  })

  it('a key that is taken is answered, and the reservation stays', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 5 })
    const first = newRun({ owner, key: key('kept') })
    accepted(await t.store.submit(first))
    const { id } = await reserve(owner)
    const again = newRun({ owner, key: key('kept'), parameters: first.parameters, reservationId: id })
    expect(accepted(await t.store.submit(again))).toMatchObject({ run: { id: first.id }, idempotentHit: true })
    expect(await stateOf(id)).toBe('ACTIVE')
  })

  it('without a model, the limits of the model are looked at when the run is submitted', async () => {
    const owner = randomUUID()
    const model = ownModel()
    await putRule(t.store, { owner, max_concurrent: 5 })
    await putRule(t.store, { owner, model, max_concurrent: 1 })
    await t.add({ owner, model })
    const { id } = await reserve(owner)
    expect(await submitWith(id, { owner, model })).toBe('quota-exceeded')
    expect(await stateOf(id)).toBe('ACTIVE')
    expect(await submitWith(id, { owner, model: ownModel() })).not.toContain('quota')
  })

  it('with a model it holds a place of that model, and is for no other', async () => {
    const owner = randomUUID()
    const model = ownModel()
    await putRule(t.store, { owner, model, max_concurrent: 1 })
    const { id } = await reserve(owner, { model })
    expect(await t.store.submit(newRun({ owner, model }))).toMatchObject({ code: 'quota-exceeded' })
    expect(await submitWith(id, { owner, model: ownModel() })).toBe('reservation-not-active')
    expect(await submitWith(id, { owner, model })).not.toContain('-not-')
  })

  it('it holds a place of the hour as well, so that the run fits when it comes', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, runs_per_hour: 1 })
    const { id } = await reserve(owner)
    expect(await t.store.submit(newRun({ owner }))).toMatchObject({ code: 'quota-exceeded' })
    expect(await submitWith(id, { owner })).not.toContain('quota')
  })

  it('a rule that only warns grants it and tells; one that asks for approval cannot promise a place', async () => {
    const [ana, bo] = [randomUUID(), randomUUID()]
    await putRule(t.store, { owner: ana, max_concurrent: 0, action: 'warn' })
    await putRule(t.store, { owner: bo, max_concurrent: 0, action: 'require_approval' })
    expect(await t.store.reservations.reserve(wanted(ana))).toMatchObject({ warnings: [{ maximum: 0, used: 1 }] })
    expect(await t.store.reservations.reserve(wanted(bo))).toMatchObject({ code: 'quota-exceeded' })
  })

  it('they are listed newest first, by owner and by the state they have now', async () => {
    const owner = randomUUID()
    const made: string[] = []
    for (let no = 0; no < 4; no += 1) made.push((await reserve(owner, { ttlSeconds: no === 3 ? 1 : 300 })).id)
    await t.store.reservations.release(made[0]!, owner)
    await submitWith(made[1]!, { owner })
    await t.database.shiftClock('2 seconds')
    const first = await t.store.reservations.list({ owner, state: null, limit: 3, cursor: null })
    const second = await t.store.reservations.list({ owner, state: null, limit: 3, cursor: first.nextCursor })
    const listed = [...first.reservations, ...second.reservations]
    expect(listed.map(({ id }) => id)).toEqual(made.toReversed())
    expect(listed.map(({ state }) => state)).toEqual(['EXPIRED', 'ACTIVE', 'CONSUMED', 'RELEASED'])
    expect(second.nextCursor).toBeNull()
    for (const { state, id } of listed) {
      const found = await t.store.reservations.list({ owner, state, limit: 9, cursor: null })
      expect(found.reservations.map((one) => one.id)).toEqual([id])
    }
    expect(
      (await t.store.reservations.list({ owner: null, state: null, limit: 2, cursor: null })).reservations,
    ).toHaveLength(2)
  })

  it('ended ones are forgotten after a week', async () => {
    const owner = randomUUID()
    const { id } = await reserve(owner)
    await t.store.reservations.release(id, owner)
    await t.database.shiftClock('8 days')
    await t.store.reservations.tidy(1_000)
    expect(await t.store.reservations.find(id, owner)).toBeNull()
  })
})
