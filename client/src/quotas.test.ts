import { expect, test } from 'vitest'
import { answers, loses, refuses, scriptedServer } from '../../test/support/scripted-http.ts'
import { stepClock } from '../../test/support/step-clock.ts'
import { CostLimitExceeded, Holdfast, QuotaExceeded } from './index.ts'

const ID = '01890000-0000-7000-8000-000000000009'
const HELD = { reservation_id: ID, state: 'ACTIVE' }

async function open(...acts: Parameters<typeof scriptedServer>) {
  const server = await scriptedServer(...acts)
  const clock = stepClock()
  return { server, clock, client: new Holdfast({ url: server.url, clock }) }
}

const asked = ({ method, path, text }: { method: string; path: string; text: string }) => `${method} ${path} ${text}`

test('rules are named by owner, model and together', async () => {
  const { server, client } = await open()
  server.otherwise(answers(200, { data: [], next_cursor: null }))
  await client.quotas.get('ana/b')
  await client.quotas.put('*', { max_concurrent: 5, action: 'warn' }, { model: 'forecast', together: true })
  await client.quotas.delete('ana', { model: 'forecast' })
  for await (const _rule of client.quotas.list({ owner: 'ana' }));
  expect(server.seen.map(asked)).toEqual([
    'GET /quotas/ana%2Fb ',
    'PUT /quotas/*?model=forecast&together=true {"max_concurrent":5,"action":"warn"}',
    'DELETE /quotas/ana?model=forecast ',
    'GET /quotas?limit=200&owner=ana ',
  ])
})

test('a reservation is made, read, listed and released', async () => {
  const { server, client } = await open(
    answers(201, HELD),
    answers(200, HELD),
    answers(200, { ...HELD, state: 'RELEASED' }),
  )
  expect(await client.reservations.create({ ttlSeconds: 60, cost: 2.5, model: 'forecast' })).toEqual(HELD)
  await client.reservations.get(ID)
  expect((await client.reservations.release(ID)).state).toBe('RELEASED')
  server.plan(answers(200, { data: [HELD], next_cursor: null }))
  for await (const one of client.reservations.list({ state: 'ACTIVE' })) expect(one).toEqual(HELD)
  expect(server.seen.map(asked)).toEqual([
    'POST /reservations {"ttl_seconds":60,"cost":2.5,"model":"forecast"}',
    `GET /reservations/${ID} `,
    `DELETE /reservations/${ID} `,
    'GET /reservations?limit=200&state=ACTIVE ',
  ])
})

test('sent again, a reservation is the same one by its key, and a release is a release', async () => {
  const { server, clock, client } = await open(loses(), answers(201, HELD), answers(201, HELD))
  await client.reservations.create()
  await client.reservations.create()
  const keys = server.seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([expect.stringMatching(/client-/), keys[0], expect.not.stringMatching(keys[0] as string)])
  server.plan(loses(), answers(200, HELD))
  await client.reservations.release(ID)
  expect(clock.slept).toEqual([1000, 1000])
})

test.each([
  ['quota-exceeded', 'max_concurrent', QuotaExceeded],
  ['cost-limit-exceeded', 'cost_per_day', CostLimitExceeded],
])('R409: %s says which limit of which rule is held by what, and is not sent again', async (code, limit, kind) => {
  const rule = { owner: '*', model: null, together: false }
  const told = { rule, limit, maximum: 5, used: 5, holders: [ID] }
  for (const call of [
    (client: Holdfast) => client.submit('forecast', {}, { reservationId: ID }),
    (client: Holdfast) => client.reservations.create(),
  ]) {
    const { server, clock, client } = await open(refuses(403, code, {}, { detail: 'Quota exceeded: no', ...told }))
    const error = await call(client).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(kind)
    expect(error).toBeInstanceOf(QuotaExceeded)
    expect(error).toMatchObject({ name: kind.name, status: 403, code, ...told })
    expect(error.message).toBe(`Quota exceeded: no (${code})`)
    expect([server.seen.length, clock.slept]).toEqual([1, []])
  }
})

test('a run that waits for approval is approved or rejected with a reason', async () => {
  const { server, client } = await open()
  server.otherwise(answers(200, {}))
  await client.approve(ID)
  await client.reject(ID, { reason: 'too dear' })
  await client.submit('forecast', {}, { idempotencyKey: 'k', concurrency: { key: 'customer-1', mode: 'refuse' } })
  expect(server.seen.map(asked)).toEqual([
    `POST /runs/${ID}/approve {}`,
    `POST /runs/${ID}/reject {"reason":"too dear"}`,
    expect.stringContaining('"concurrency":{"key":"customer-1","mode":"refuse"}'),
  ])
})

test('a refusal that does not say which rule it was has none', async () => {
  const { client } = await open(refuses(403, 'quota-exceeded'))
  const error = await client.submit('forecast', {}).catch((thrown) => thrown)
  expect(error).toMatchObject({ rule: null, limit: null, maximum: null, used: null, holders: [] })
})
