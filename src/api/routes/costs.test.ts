/** Costs over HTTP: models that state one, submits that are held to limits, and remote workers that say what was spent. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MODEL, openTestApi, type TestApi } from '../../../test/support/api.ts'
import { putRule } from '../../../test/support/quotas.ts'
import type { LeaseObject } from '../../contract/lease.ts'

const COST = { estimate: 'parameters.months * 0.5', ratePerSecond: 0.1, onFailure: 'release', currency: 'USD' } as const
const JSON_TYPE = { 'content-type': 'application/json' }
const MODELS = [
  { ...MODEL, cost: COST },
  { ...MODEL, name: 'metered', executor: 'remote', cost: COST },
  { ...MODEL, name: 'plain' },
  { ...MODEL, name: 'odd', cost: { estimate: '10 / (parameters.months - 24)' } },
]

let api: TestApi
let owners = 0
beforeAll(async () => {
  api = await openTestApi({ models: MODELS })
})
afterAll(() => api.close())

/** Somebody whom no other test knows. */
function nobody() {
  owners += 1
  const owner = `owner-${owners}`
  const headers = { 'holdfast-owner': owner }
  return {
    owner,
    headers,
    submit: (body: object) => api.submit({ model: 'forecast', parameters: { scenario: 'x' }, ...body }, headers),
  }
}

describe('a model with a cost', () => {
  it('is shown with it, registered by a worker or by a request', async () => {
    const { app, get } = api
    const shown = {
      estimate: COST.estimate,
      rate_per_second: 0.1,
      on_failure: 'release',
      on_cancel: 'actual',
      currency: 'USD',
    }
    expect((await get('/models/forecast')).json()).toMatchObject({ cost: shown })
    const { on_cancel: _, ...cost } = shown
    const payload = { parameters_schema: MODEL.parametersSchema, cost }
    const put = await app.inject({ method: 'PUT', url: '/models/price/1', payload })
    expect(put.statusCode).toBe(201)
    expect((await get('/models/price')).json()).toMatchObject({ cost: shown })
  })

  it('is refused when its formula is none, with the place', async () => {
    const { app } = api
    const payload = { parameters_schema: MODEL.parametersSchema, cost: { estimate: 'parameters.month * 2' } }
    const put = await app.inject({ method: 'PUT', url: '/models/price/1', payload })
    expect(put.json()).toMatchObject({
      code: 'invalid-body',
      errors: [{ pointer: '/cost/estimate', detail: 'month is no parameter; the nearest is months' }],
    })
  })

  it('holds what its formula gives for the parameters, defaults included', async () => {
    const { run_id: runId, cost } = (await nobody().submit({})).json()
    expect(await api.store.costs.of(runId)).toEqual({ state: 'HELD', held: 12, settled: 0, currency: 'USD' })
    expect(cost).toEqual({ state: 'HELD', held: 12, settled: 0, currency: 'USD' })
  })

  it('refuses parameters for which it gives no amount, and leaves nothing behind', async () => {
    const before = await api.stored()
    const answer = await nobody().submit({ model: 'odd', idempotency_key: 'k' })
    expect([answer.statusCode, answer.json()]).toMatchObject([
      422,
      { code: 'cost-not-computable', retryable: false, detail: expect.stringContaining('Infinity') },
    ])
    expect(await api.stored()).toEqual(before)
  })

  it('is held to a limit: refused over it, told from four fifths on', async () => {
    const { owner, submit } = nobody()
    await putRule(api.store, { owner, cost_per_day: 14 })
    const first = (await submit({})).json()
    expect(first.cost_limit_warning).toMatch(/12/)
    const answer = await submit({ parameters: { scenario: 'other', months: 6 } })
    expect([answer.statusCode, answer.json()]).toMatchObject([
      403,
      {
        code: 'cost-limit-exceeded',
        detail: expect.stringMatching(/^Cost limit exceeded: Maximum 14\.00 USD per day allowed; .* 12\.00 USD held/),
        retryable: false,
        limit: 'cost_per_day',
        maximum: 14,
        used: 12,
        holders: [first.run_id],
      },
    ])
  })

  it('a run shows what it holds and what became of it, to whoever sees it; lists and runs without a cost show null', async () => {
    const { owner, submit, headers } = nobody()
    const { run_id: runId } = (await submit({ idempotency_key: 'shown' })).json()
    const read = () => api.get(`/runs/${runId}`, headers)
    const before = await read()
    expect(before.json().cost).toEqual({ state: 'HELD', held: 12, settled: 0, currency: 'USD' })
    expect((await submit({ idempotency_key: 'shown' })).json()).toMatchObject({
      idempotent_hit: true,
      cost: { held: 12 },
    })
    await api.app.inject({ method: 'POST', url: `/runs/${runId}/cancel`, headers })
    const cancelled = await read()
    expect(cancelled.json().cost).toMatchObject({ state: 'HELD' })
    await api.store.costs.closeEnded(100)
    // Nothing has happened to the run itself, and still it is another version.
    const after = await api.get(`/runs/${runId}`, { ...headers, 'if-none-match': cancelled.headers.etag as string })
    expect(after.json().cost).toEqual({ state: 'RELEASED', held: 12, settled: 0, currency: 'USD' })
    expect((await api.get(`/runs?owner=${owner}`)).json().data).toMatchObject([{ run_id: runId, cost: null }])
    const plain = (await submit({ model: 'plain' })).json()
    expect([plain.cost, (await api.get(`/runs/${plain.run_id}`, headers)).json().cost]).toEqual([null, null])
  })

  it('a retry is charged like any run', async () => {
    const { submit, headers } = nobody()
    const { run_id: runId } = (await submit({})).json()
    await api.app.inject({ method: 'POST', url: `/runs/${runId}/cancel`, headers })
    const url = `/runs/${runId}/retry`
    const retried = await api.app.inject({ method: 'POST', url, headers: { ...JSON_TYPE, ...headers }, payload: '{}' })
    expect(await api.store.costs.of(retried.json().run_id)).toMatchObject({ state: 'HELD', held: 12 })
  })
})

describe('a remote worker', () => {
  async function leased() {
    await nobody().submit({ model: 'metered' })
    const post = (url: string, body: object, token?: string) =>
      api.app.inject({
        method: 'POST',
        url,
        headers: { ...JSON_TYPE, ...(token && { 'holdfast-attempt-token': token }) },
        payload: JSON.stringify(body),
      })
    const answer = await post('/leases', { worker: 'w', models: ['metered'], slots: 1, wait_seconds: 0 })
    const lease = answer.json().data[0] as LeaseObject
    return { lease, say: (verb: string, body: object) => post(`/leases/${lease.run_id}/${verb}`, body, lease.token) }
  }

  it('says with complete what was spent', async () => {
    const { say, lease } = await leased()
    expect((await say('complete', { result: 1, cost: 3.25 })).statusCode).toBe(200)
    expect(await api.store.costs.of(lease.run_id)).toMatchObject({ state: 'SETTLED', settled: 3.25 })
  })

  it('without a word is charged by time', async () => {
    const { say, lease } = await leased()
    await api.db.shiftClock('50 seconds')
    await say('complete', { result: 1 })
    const { state, settled } = (await api.store.costs.of(lease.run_id))!
    await api.db.shiftClock('0')
    expect([state, Math.round(settled)]).toEqual(['SETTLED', 5])
  })

  it('says with fail what was spent, and what the policy releases is not charged', async () => {
    const { say, lease } = await leased()
    await say('fail', { error: { class: 'E', message: 'no', retryable: false }, cost: 3 })
    expect(await api.store.costs.of(lease.run_id)).toMatchObject({ state: 'RELEASED', settled: 0 })
  })

  it.each([-1, 1e12, 'much'])('cannot say that it cost %s', async (cost) => {
    const { say } = await leased()
    expect((await say('complete', { result: 1, cost })).json()).toMatchObject({ code: 'invalid-body' })
    await say('complete', { result: 1 })
  })
})
