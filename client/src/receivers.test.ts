import { expect, test } from 'vitest'
import { answers, loses, refuses, scriptedServer } from '../../test/support/scripted-http.ts'
import { stepClock } from '../../test/support/step-clock.ts'
import { Conflict, Holdfast } from './index.ts'

const ID = '01890000-0000-7000-8000-000000000009'
const URL = 'https://hooks.example.org/holdfast'

async function open(...acts: Parameters<typeof scriptedServer>) {
  const server = await scriptedServer(...acts)
  return { server, client: new Holdfast({ url: server.url, clock: stepClock() }) }
}

const asked = ({ method, path, text }: { method: string; path: string; text: string }) => `${method} ${path} ${text}`

test('a webhook is made, read, changed, tested, given another secret and deleted', async () => {
  const { server, client } = await open(answers(201, { webhook_id: ID, secret: 'whsec_c2VjcmV0' }))
  const made = await client.webhooks.create({ url: URL, events: ['run.failed'], owner: '*' })
  expect(made).toEqual({ webhook_id: ID, secret: 'whsec_c2VjcmV0' })
  server.otherwise(answers(200, { data: [], next_cursor: null }))
  await client.webhooks.get(ID)
  await client.webhooks.change(ID, { enabled: true })
  await client.webhooks.test(ID)
  await client.webhooks.rotateSecret(ID, { oldSecretSeconds: 60 })
  for await (const _webhook of client.webhooks.list({ owner: 'ana' }));
  server.plan(answers(204, ''))
  expect(await client.webhooks.delete(ID)).toBeNull()
  expect(server.seen.map(asked)).toEqual([
    `POST /webhooks {"url":"${URL}","events":["run.failed"],"owner":"*"}`,
    `GET /webhooks/${ID} `,
    `PATCH /webhooks/${ID} {"enabled":true}`,
    `POST /webhooks/${ID}/test `,
    `POST /webhooks/${ID}/rotate-secret {"old_secret_seconds":60}`,
    'GET /webhooks?limit=200&owner=ana ',
    `DELETE /webhooks/${ID} `,
  ])
})

test('a mail address is put, read, tested and deleted', async () => {
  const { server, client } = await open()
  server.otherwise(answers(200, { data: [], next_cursor: null }))
  await client.recipients.put({ address: 'ada@example.org', kinds: ['failure'] })
  await client.recipients.get(ID)
  await client.recipients.test(ID)
  for await (const _recipient of client.recipients.list());
  await client.recipients.delete(ID)
  expect(server.seen.map(asked)).toEqual([
    'POST /recipients {"address":"ada@example.org","kinds":["failure"]}',
    `GET /recipients/${ID} `,
    `POST /recipients/${ID}/test `,
    'GET /recipients?limit=200 ',
    `DELETE /recipients/${ID} `,
  ])
})

test('deliveries are listed to the last page, read and sent again', async () => {
  const { server, client } = await open(
    answers(200, { data: [], next_cursor: 'more' }),
    answers(200, { data: [{ delivery_id: ID }], next_cursor: null }),
    answers(200, { delivery_id: ID, attempts: [] }),
    answers(200, { delivery_id: ID, state: 'PENDING' }),
    refuses(409, 'delivery-busy'),
  )
  const found = []
  for await (const delivery of client.deliveries.list({ state: 'DEAD', receiver_id: ID })) found.push(delivery)
  expect(found).toEqual([{ delivery_id: ID }])
  await client.deliveries.get(ID)
  expect((await client.deliveries.redeliver(ID)).state).toBe('PENDING')
  await expect(client.deliveries.redeliver(ID)).rejects.toBeInstanceOf(Conflict)
  expect(server.seen.map(asked)).toEqual([
    `GET /deliveries?limit=200&state=DEAD&receiver_id=${ID} `,
    `GET /deliveries?limit=200&state=DEAD&receiver_id=${ID}&cursor=more `,
    `GET /deliveries/${ID} `,
    `POST /deliveries/${ID}/redeliver `,
    `POST /deliveries/${ID}/redeliver `,
  ])
})

test.each([
  ['a new webhook', (client: Holdfast) => client.webhooks.create({ url: URL, events: ['run.failed'] })],
  ['a new secret', (client: Holdfast) => client.webhooks.rotateSecret(ID)],
  ['a test', (client: Holdfast) => client.recipients.test(ID)],
  ['a redelivery', (client: Holdfast) => client.deliveries.redeliver(ID)],
])('%s is not asked for again when nobody knows whether it was done', async (_what, call) => {
  const { server, client } = await open(loses())
  await expect(call(client)).rejects.toMatchObject({ name: 'MaxRetriesExceeded', attempts: 1 })
  expect(server.seen).toHaveLength(1)
})

test('a change and an address are sent again: twice is the same as once', async () => {
  const { server, client } = await open(loses(), answers(200, {}), loses(), answers(200, {}))
  await client.webhooks.change(ID, { description: null })
  await client.recipients.put({ address: 'ada@example.org' })
  expect(server.seen).toHaveLength(4)
})
