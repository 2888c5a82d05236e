import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BODY, createTestApi, MODEL, openTestApi, type TestApi } from '../../../test/support/api.ts'
import { TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'

const FILE_MODEL = {
  ...MODEL,
  name: 'reader',
  parametersSchema: {
    type: 'object',
    properties: { document: { type: 'string', format: 'holdfast-file' } },
    required: ['document'],
  },
}

const reserve = (body: object = {}, headers = {}) =>
  api.app.inject({
    method: 'POST',
    url: '/reservations',
    headers: { 'content-type': 'application/json', ...headers },
    payload: JSON.stringify(body),
  })

const release = (id: string, headers = {}) => api.app.inject({ method: 'DELETE', url: `/reservations/${id}`, headers })

let api: TestApi
beforeAll(async () => {
  api = await openTestApi({ models: [MODEL, FILE_MODEL] })
})
afterAll(() => api.close())

let owners = 0
/** An owner that no other test has. */
function newOwner() {
  owners += 1
  return { 'holdfast-owner': `owner-${owners}` }
}

/** One that may have a single run at a time. */
async function limited() {
  const as = newOwner()
  const limits = { runs_per_hour: null, runs_per_day: null, cost_per_day: null, cost_per_month: null }
  const name = { owner: as['holdfast-owner'], model: '', together: false }
  await api.store.quotas.put(name, { ...limits, max_concurrent: 1 }, 'block')
  return as
}

const EXCEEDED = { code: 'quota-exceeded', detail: 'Quota exceeded: Maximum 1 concurrent runs allowed' }

describe('a reservation', () => {
  test('holds a place for 300 seconds when not told otherwise, and says where it is', async () => {
    const answer = await reserve()
    const made = answer.json()
    expect([answer.statusCode, answer.headers.location]).toEqual([201, `/reservations/${made.reservation_id}`])
    expect(made).toMatchObject({ owner: 'default', state: 'ACTIVE', model: null, run_id: null, quota_warnings: [] })
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(300_000)
    const { quota_warnings: _quota, cost_limit_warning: _cost, ...shown } = made
    expect((await api.get(made.links.self)).json()).toEqual(shown)
  })

  test('counts: at the limit the next one, and a run, is 403 with the exact text', async () => {
    const as = await limited()
    const made = (await reserve({}, as)).json()
    expect(made.quota_warnings).toEqual(['Quota warning: 1 of 1 concurrent runs used'])
    for (const refused of [await reserve({}, as), await api.submit(BODY, as)]) {
      const holders = [made.reservation_id]
      expect(refused.json()).toMatchObject({ status: 403, retryable: false, ...EXCEEDED, used: 1, holders })
    }
  })

  test('is consumed by the run it is given to, which takes its place', async () => {
    const as = await limited()
    const { reservation_id } = (await reserve({}, as)).json()
    const run = await api.create({ reservation_id: reservation_id.toUpperCase() }, as)
    expect((await api.get(`/reservations/${reservation_id}`)).json()).toMatchObject({
      state: 'CONSUMED',
      run_id: run.run_id,
      ended_at: expect.any(String),
      links: { run: `/runs/${run.run_id}` },
    })
    expect((await reserve({}, as)).json()).toMatchObject(EXCEEDED)
    const again = await api.submit({ ...BODY, parameters: { scenario: 'b' }, reservation_id }, as)
    expect(again.json()).toMatchObject({ status: 409, code: 'reservation-not-active' })
    // Released in any case, as callers do when they are through: nothing changes.
    expect((await release(reservation_id)).json()).toMatchObject({ state: 'CONSUMED' })
  })

  test('is consumed by an item of a batch', async () => {
    const headers = await limited()
    const { reservation_id } = (await reserve({}, headers)).json()
    const runs = [
      { ...BODY, parameters: { scenario: 'b' } },
      { ...BODY, reservation_id },
    ]
    const answer = await api.app.inject({ method: 'POST', url: '/runs/batch', headers, payload: { runs } })
    expect(answer.json().data.map(({ status }: { status: number }) => status)).toEqual([403, 201])
  })

  test('is consumed by the run of an uploaded file', async () => {
    const as = await limited()
    const { reservation_id } = (await reserve({}, as)).json()
    const upload = (query: string) =>
      api.app.inject({
        method: 'POST',
        url: `/files?name=a.txt&${query}`,
        headers: { 'content-type': 'application/octet-stream', ...as },
        payload: Buffer.from('hello'),
      })
    expect((await upload('model=reader')).json()).toMatchObject(EXCEEDED)
    const accepted = await upload(`model=reader&reservation_id=${reservation_id}`)
    expect(accepted.statusCode).toBe(201)
    expect(accepted.json().data[0]).toMatchObject({ quota_warnings: [], cost_limit_warning: null })
    expect((await api.get(`/reservations/${reservation_id}`)).json()).toMatchObject({
      state: 'CONSUMED',
      run_id: accepted.json().data[0].run_id,
    })
    expect((await upload(`reservation_id=${reservation_id}`)).json()).toMatchObject({ code: 'invalid-body' })
  })

  test('released, its place is free at once; doing it again changes nothing', async () => {
    const as = await limited()
    const { reservation_id } = (await reserve({}, as)).json()
    for (const _time of [1, 2]) {
      const answer = await release(reservation_id)
      expect([answer.statusCode, answer.json().state]).toEqual([200, 'RELEASED'])
    }
    const late = await api.submit({ ...BODY, reservation_id }, as)
    expect(late.json()).toMatchObject({ code: 'reservation-not-active' })
    await api.create({}, as)
  })

  test('the same key of the same owner gets the same one', async () => {
    const as = await limited()
    const key = { 'idempotency-key': 'upload-1' }
    const answers = await Promise.all([1, 2, 3].map(() => reserve({}, { ...key, ...as })))
    const first = answers[0]!.json()
    expect(new Set(answers.map((answer) => answer.json().reservation_id))).toEqual(new Set([first.reservation_id]))
    const again = await reserve({}, { ...key, ...as })
    expect([again.statusCode, again.headers['idempotent-replayed']]).toEqual([200, 'true'])
    const other = (await reserve({}, { ...key, ...newOwner() })).json()
    expect(other.reservation_id).not.toBe(first.reservation_id)
  })

  test.each([
    [{ ttl_seconds: 0 }, 'invalid-body'],
    [{ ttl_seconds: 90_000 }, 'invalid-body'],
    [{ cost: -1 }, 'invalid-body'],
    [{ model: 'forcast' }, 'unknown-model'],
  ])('%j is refused with %s', async (body, code) => {
    expect((await reserve(body)).json().code).toBe(code)
  })
})

test('a run with a reservation that there is not is refused', async () => {
  const before = await api.stored()
  const answer = await api.submit({ ...BODY, reservation_id: randomUUID() })
  expect(answer.json()).toMatchObject({ status: 404, code: 'reservation-not-found' })
  expect(await api.stored()).toEqual(before)
})

test('one that expired holds nothing and lets no run in, whether or not anybody has marked it', async () => {
  const late = await createTestApi()
  await late.app.inject({ method: 'PUT', url: '/quotas/*', payload: { max_concurrent: 1 } })
  const payload = { ttl_seconds: 60 }
  const { reservation_id } = (await late.app.inject({ method: 'POST', url: '/reservations', payload })).json()
  expect((await late.get('/metrics')).body).toMatch(/^reservations_active 1$/m)
  await late.db.shiftClock('61 seconds')
  expect((await late.get(`/reservations/${reservation_id}`)).json()).toMatchObject({ state: 'EXPIRED' })
  expect((await late.submit({ ...BODY, reservation_id })).json()).toMatchObject({ code: 'reservation-not-active' })
  expect((await late.get('/metrics')).body).toMatch(/^reservations_active 0$/m)
  await late.create()
})

test('others’ reservations are not there, and operators see all', async () => {
  const closed = await createTestApi({ config: { access: TOKENS_ONLY } })
  const [alice, bob, operator] = await Promise.all([
    testToken(closed.store, 'submitter'),
    testToken(closed.store, 'submitter', { owner: 'bob' }),
    testToken(closed.store, 'operator'),
  ])
  const call = (method: 'POST' | 'DELETE', url: string, headers: object) =>
    closed.app.inject({ method, url, headers: { ...headers }, ...(method === 'POST' && { payload: {} }) })
  const ofBob = (await call('POST', '/reservations', bob.headers)).json().reservation_id
  const ofAlice = (await call('POST', '/reservations', alice.headers)).json().reservation_id
  const stolen = await call('DELETE', `/reservations/${ofBob}`, alice.headers)
  expect(stolen.json()).toMatchObject({ status: 404, code: 'reservation-not-found' })
  const taken = await closed.submit({ ...BODY, reservation_id: ofBob }, alice.headers)
  expect(taken.json()).toMatchObject({ status: 404, code: 'reservation-not-found' })
  const listed = async (query: string, headers: { authorization: string }) =>
    (await closed.get(`/reservations${query}`, headers))
      .json()
      .data.map((one: { reservation_id: string }) => one.reservation_id)
  expect(await listed('', alice.headers)).toEqual([ofAlice])
  expect(await listed('?owner=bob', alice.headers)).toEqual([])
  expect(await listed('', operator.headers)).toEqual([ofAlice, ofBob])
  expect(await listed('?owner=bob&state=ACTIVE', operator.headers)).toEqual([ofBob])
  expect(await listed('?state=EXPIRED', operator.headers)).toEqual([])
  const released = await call('DELETE', `/reservations/${ofBob}`, operator.headers)
  expect(released.json()).toMatchObject({ state: 'RELEASED' })
})
