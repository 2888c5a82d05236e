/**
 * Admission while the way to the database breaks and the process lives on: what it sends again makes one run or one reservation, whether or
 * not the commit it did not hear of was made. What becomes of a process that dies is in test/chaos/admission-kill.test.ts.
 */

import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { acceptedUpload, newUpload } from '../../test/support/new-upload.ts'
import { type FaultProxy, startProxy } from '../../test/support/proxy.ts'
import { putRule } from '../../test/support/quotas.ts'
import { accepted, openTestStore, ownModel, type TestStore } from '../../test/support/store.ts'
import { Refusal } from '../run/errors.ts'
import { createAccept } from './accept-upload.ts'
import { ADMISSION_PARTS } from './admission-parts.ts'
import { createAdmission } from './admit.ts'
import { openPool } from './connect.ts'
import { createLanes } from './lanes.ts'
import type { NewReservation, Reserved } from './ports/reservations.ts'
import { createRuleCopy, type RuleCopy } from './quota-rules.ts'
import { createReservations } from './reservations.ts'
import { createReserve } from './reserve.ts'
import { createSubmit, type Submit } from './submit.ts'

type Match = (text: string) => boolean
const includes =
  (part: string): Match =>
  (text) =>
    text.includes(part)

// A transaction is lost in the same way at any of its statements; at its end nobody knows whether it is.
const SUBMIT: Record<string, Match> = {
  BEGIN: (text) => text === 'BEGIN',
  'the consumed reservation': includes('UPDATE quota_reservations v SET state'),
  COMMIT: (text) => text === 'COMMIT',
}
const RESERVE: Record<string, Match> = {
  'the reservation': includes('INSERT INTO quota_reservations'),
  COMMIT: (text) => text === 'COMMIT',
}

const faultsAt = (statements: Record<string, Match>) =>
  (['dropNextRequest', 'dropNextReply'] as const).flatMap((fault) =>
    Object.entries(statements).map(([what, match]) => ({ fault, what, match })),
  )

describe('admission through a broken line', () => {
  const admission = createAdmission(ADMISSION_PARTS)
  const lanes = createLanes()
  let t: TestStore
  let proxy: FaultProxy
  let pool: pg.Pool
  let rules: RuleCopy
  let owner: string

  beforeAll(async () => {
    t = await openTestStore('18')
  })
  afterAll(() => t.close())

  beforeEach(async () => {
    const { hostname, port } = new URL(t.database.url)
    proxy = await startProxy({ host: hostname, port: Number(port) })
    const url = proxy.through(t.database.url)
    pool = openPool({ url, name: 'lossy', max: 3, statementTimeoutMs: 400, connectTimeoutMs: 400, pinPlans: true })
    // The rule is known of by a line that holds.
    rules = createRuleCopy(t.database.pool)
    owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 1, runs_per_day: 2 })
    await rules.refresh()
    await lanes.ensure(t.database.pool, [newRun({ owner })])
  })
  afterEach(async () => {
    proxy.cut()
    await pool.end()
    await proxy.close()
  })

  const submits = (retryForMs: number): Submit =>
    createSubmit({ batchPool: pool, singlePool: pool, lanesKnown: lanes, admission, rules, retryForMs })
  const wanted = (): NewReservation => ({ id: randomUUID(), owner, model: null, ttlSeconds: 300, cost: null })
  const used = async () => (await t.store.quotas.usage({ owner, model: '' })).map((one) => one.used)
  const runs = async () => (await t.database.query('SELECT FROM model_runs WHERE owner = $1', [owner])).length
  const reserved = async (): Promise<NewReservation> => {
    const reservation = wanted()
    expect(await t.store.reservations.reserve(reservation)).not.toBeInstanceOf(Refusal)
    return reservation
  }

  it.each(faultsAt(SUBMIT))('submit, $fault at $what: one run, answered as new', async ({ fault, match }) => {
    const { id } = await reserved()
    const run = newRun({ owner, reservationId: id })
    const dropped = proxy[fault](match)
    const answer = accepted(await submits(5_000).one(run))
    await dropped
    expect(answer).toMatchObject({ run: { id: run.id }, idempotentHit: false })
    expect([await runs(), await used()]).toEqual([1, [1, 1]])
    expect(await t.store.reservations.find(id, owner)).toMatchObject({ state: 'CONSUMED', runId: run.id })
  })

  it.each(faultsAt(RESERVE))('reserve, $fault at $what: one reservation', async ({ fault, match }) => {
    const reservation = wanted()
    const dropped = proxy[fault](match)
    const answer = await createReserve({ pool, admission })(reservation)
    await dropped
    expect((answer as Reserved).reservation).toMatchObject({ id: reservation.id, state: 'ACTIVE' })
    expect(await used()).toEqual([1, 1])
  })

  it.each(['dropNextRequest', 'dropNextReply'] as const)('release, %s: the next one gives it back', async (fault) => {
    const { id } = await reserved()
    const dropped = proxy[fault](includes("SET state = 'RELEASED'"))
    const lossy = createReservations({ reads: pool, singles: pool, admission }, (asked) => asked)
    await expect(lossy.release(id, owner)).rejects.toThrow()
    await dropped
    expect(await lossy.release(id, owner)).toMatchObject({ outcome: 'released' })
    expect(await used()).toEqual([0, 0])
  })

  it.each(['dropNextRequest', 'dropNextReply'] as const)('an upload with a run, %s of its commit', async (fault) => {
    const upload = newUpload({ owner, model: ownModel(), text: randomUUID() })
    await lanes.ensure(pool, [upload.run!])
    const dropped = proxy[fault](SUBMIT.COMMIT!)
    const answer = acceptedUpload(await createAccept({ pool, lanes, admission, rules })(upload))
    await dropped
    expect(answer.upload).toMatchObject({ id: upload.id, duplicate: false, runId: upload.run!.id })
    expect([await runs(), await used()]).toEqual([1, [1, 1]])
  })

  it('a whole batch whose commit was not heard of: each run once, none counted twice', async () => {
    const many = randomUUID()
    await putRule(t.store, { owner: many, max_concurrent: 5 })
    await rules.refresh()
    const asked = Array.from({ length: 20 }, () => newRun({ owner: many }))
    const dropped = proxy.dropNextCommitReply()
    const answers = await submits(5_000).many(asked)
    await dropped
    expect(answers.map((answer) => (answer instanceof Refusal ? answer.code : answer.run.id))).toEqual(
      asked.map(({ id }, no) => (no < 5 ? id : 'quota-exceeded')),
    )
    expect(await t.store.quotas.usage({ owner: many, model: '' })).toMatchObject([{ used: 5 }])
  })
})
