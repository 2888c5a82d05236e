import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { addDeliveries, addWebhook, failedOf, sentOf } from '../../../test/support/new-delivery.ts'
import { TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'
import { DeliveryDetailObject, DeliveryListAnswer, DeliveryObject } from '../../contract/delivery.ts'

let api: TestApi
let ana: Record<string, string>
let operator: Record<string, string>
beforeAll(async () => {
  api = await openTestApi({ config: { access: TOKENS_ONLY } })
  ana = (await testToken(api.store, 'submitter', { owner: 'ana' })).headers
  operator = (await testToken(api.store, 'operator')).headers
})
afterAll(() => api.close())

const redeliver = (id: string, headers: Record<string, string>) =>
  api.app.inject({ method: 'POST', url: `/deliveries/${id}/redeliver`, headers })
const idsOf = (answer: { json(): { data: { delivery_id: string }[] } }) =>
  answer.json().data.map(({ delivery_id: id }) => id)
const claim = () => api.store.deliveries.claim({ limit: 1, leaseMs: 60_000, channels: ['webhook'] })

/** A delivery of ana's that failed once, with secrets in what was sent and answered, and is dead. */
async function dead(): Promise<string> {
  await addDeliveries(api.db, await addWebhook(api.store, { owner: 'ana' }))
  const [claimed] = await claim()
  const request = { method: 'POST', headers: { 'x-api-key': 'canary-1' } }
  const response = { status: 500, body: 'no', headers: { 'set-auth-token': 'canary-2' } }
  await api.store.deliveries.settle([failedOf(claimed!, { outcome: 'dead', request, response })])
  await api.db.query(`UPDATE deliveries SET data = data || '{"password": "canary-3"}' WHERE id = $1`, [claimed!.id])
  return claimed!.id
}

describe('GET /deliveries', () => {
  test('shows owners what their own receivers were sent, newest first, and operators everything', async () => {
    const [mine, others] = [await addWebhook(api.store, { owner: 'ana' }), await addWebhook(api.store, { owner: 'bo' })]
    const [old] = await addDeliveries(api.db, mine, { state: 'DELIVERED', createdAgo: '1 hour' })
    const [foreign] = await addDeliveries(api.db, others, { state: 'DELIVERED' })
    const [young] = await addDeliveries(api.db, mine, { state: 'DEAD', createdAgo: '-1 second' })
    const answer = await api.get('/deliveries', ana)
    expect(DeliveryListAnswer.parse(answer.json()).data.map((one) => one.delivery_id)).toEqual([young, old])
    expect(idsOf(await api.get('/deliveries', operator))).toEqual([young, foreign, old])
    expect(idsOf(await api.get('/deliveries?owner=bo', operator))).toEqual([foreign])
    expect(idsOf(await api.get('/deliveries?owner=bo', ana))).toEqual([])
    await api.db.query('DELETE FROM receivers')
  })

  test('each filter leaves what fits it', async () => {
    const [hook, other] = [await addWebhook(api.store, { owner: 'ana' }), await addWebhook(api.store, { owner: 'ana' })]
    const [one] = await addDeliveries(api.db, hook, { state: 'DEAD', kind: 'run.failed' })
    const [two] = await addDeliveries(api.db, other, { state: 'DELIVERED', kind: 'run.created' })
    for (const query of [
      'state=DEAD',
      `receiver_id=${hook.toUpperCase()}`,
      'kind=run.failed',
      'state=DEAD&channel=webhook',
    ])
      expect(idsOf(await api.get(`/deliveries?${query}`, ana))).toEqual([one])
    expect(idsOf(await api.get('/deliveries?state=DELIVERED', ana))).toEqual([two])
    expect(idsOf(await api.get('/deliveries?channel=mail', ana))).toEqual([])
    await api.db.query('DELETE FROM receivers')
  })

  test('pages go on where the one before ended', async () => {
    const hook = await addWebhook(api.store, { owner: 'ana' })
    const made = await addDeliveries(api.db, hook, { state: 'DELIVERED', count: 5 })
    const found: string[] = []
    let cursor = ''
    do {
      const answer = await api.get(`/deliveries?limit=2${cursor && `&cursor=${cursor}`}`, ana)
      found.push(...idsOf(answer))
      cursor = answer.json().next_cursor
    } while (cursor)
    expect(found).toEqual(made.toReversed())
    await api.db.query('DELETE FROM receivers')
  })

  test.each(['state=SENT', 'channel=fax', 'receiver_id=7', 'cursor=%00', 'cursor=bm9uZQ', 'limit=0', 'unknown=1'])(
    'refuses ?%s',
    async (query) => {
      expect((await api.get(`/deliveries?${query}`, ana)).json()).toMatchObject({ status: 400, code: 'invalid-query' })
    },
  )
})

describe('GET /deliveries/{id}', () => {
  test('shows what was sent and answered, each time, and hides what is sensitive', async () => {
    const id = await dead()
    const answer = await api.get(`/deliveries/${id.toUpperCase()}`, ana)
    expect(DeliveryDetailObject.parse(answer.json())).toMatchObject({
      delivery_id: id,
      state: 'DEAD',
      next_attempt_at: null,
      attempt_count: 1,
      last_error: 'it answered 500',
      data: { type: 'run.succeeded', password: '[redacted]' },
      attempts: [{ attempt: 1, duration_ms: 12, error: 'it answered 500', response: { status: 500, body: 'no' } }],
      mail: null,
    })
    expect(answer.body).not.toContain('canary')
  })

  test('says of what waits when it is sent next', async () => {
    const [id] = await addDeliveries(api.db, await addWebhook(api.store, { owner: 'ana' }), { availableIn: '1 hour' })
    const shown = (await api.get(`/deliveries/${id}`, ana)).json()
    expect(Date.parse(shown.next_attempt_at) - Date.parse(shown.created_at)).toBeGreaterThan(3_500_000)
    expect(shown).toMatchObject({ state: 'PENDING', finished_at: null, attempts: [] })
  })

  test.each([randomUUID(), 'x', '%20'])('answers 404 for %s', async (id) => {
    expect((await api.get(`/deliveries/${id}`, ana)).json()).toMatchObject({ status: 404, code: 'delivery-not-found' })
  })
})

describe('POST /deliveries/{id}/redeliver', () => {
  test('sends what has ended again under the same message id', async () => {
    const id = await dead()
    const before = (await api.get(`/deliveries/${id}`, ana)).json()
    const again = DeliveryObject.parse((await redeliver(id, ana)).json())
    expect(again).toMatchObject({ delivery_id: id, state: 'PENDING', message_id: before.message_id, finished_at: null })
    const [claimed] = await claim()
    expect(claimed).toMatchObject({ id, attempts: 2, tries: 0 })
    await api.store.deliveries.settle([sentOf(claimed!)])
    const after = (await api.get(`/deliveries/${id}`, ana)).json()
    expect(after).toMatchObject({ state: 'DELIVERED', last_error: null, attempts: [{ attempt: 1 }, { attempt: 2 }] })
  })

  test('refuses what has not ended, and leaves it as it is', async () => {
    const [id] = await addDeliveries(api.db, await addWebhook(api.store, { owner: 'ana' }), { availableIn: '1 hour' })
    const before = (await api.get(`/deliveries/${id}`, ana)).json()
    expect((await redeliver(id!, ana)).json()).toMatchObject({ status: 409, code: 'delivery-busy' })
    expect((await api.get(`/deliveries/${id}`, ana)).json()).toEqual(before)
  })

  test('an operator sends again what others were sent', async () => {
    expect((await redeliver(await dead(), operator)).statusCode).toBe(200)
  })

  test('is in the audit when something is sent again, and only then', async () => {
    await api.db.query('DELETE FROM receivers')
    const id = await dead()
    await redeliver(id, operator)
    await redeliver(id, operator)
    const { data } = (await api.get('/audit', (await testToken(api.store, 'admin')).headers)).json()
    const recorded = data.filter(({ target }: { target: string }) => target === id)
    expect(recorded).toMatchObject([{ action: 'delivery.redeliver', target: id, request_id: expect.any(String) }])
  })
})
