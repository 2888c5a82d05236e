import { Webhook as PublicWebhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApi, openTestApi, type TestApi } from '../../../test/support/api.ts'
import { answers, scriptedServer } from '../../../test/support/scripted-http.ts'
import { type TestToken, TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'
import { createWebhookSender } from '../../delivery/webhook-sender.ts'
import type { ClaimedDelivery } from '../../store/ports/deliveries.ts'

const URL_OK = 'https://hooks.example.org/holdfast?of=me'
const BODY = { url: URL_OK, events: ['run.succeeded', 'run.failed'] }

const send = (api: TestApi, method: 'GET' | 'PATCH' | 'DELETE' | 'POST', url: string, body?: object, headers = {}) =>
  api.app.inject({
    method,
    url,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { payload: JSON.stringify(body) }),
  })

const make = async (api: TestApi, body: object = {}, headers = {}) =>
  (await send(api, 'POST', '/webhooks', { ...BODY, ...body }, headers)).json()

describe('a webhook', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await openTestApi()
  })
  afterAll(() => api.close())

  test('is registered, listed, read, changed and deleted', async () => {
    const answer = await send(api, 'POST', '/webhooks', { ...BODY, description: 'ours' }, { 'holdfast-owner': 'ana' })
    const { secret, ...made } = answer.json()
    expect([answer.statusCode, answer.headers.location, answer.headers['cache-control'], made]).toEqual([
      201,
      made.links.self,
      'no-store',
      {
        webhook_id: expect.any(String),
        ...BODY,
        ...{ owner: 'ana', description: 'ours', enabled: true, disabled_reason: null, failures: 0 },
        ...{ created_at: expect.any(String), created_by: 'ana', old_secret_until: null },
        links: { self: `/webhooks/${made.webhook_id}`, deliveries: `/deliveries?receiver_id=${made.webhook_id}` },
      },
    ])
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32)
    const { self } = made.links
    expect((await api.get('/webhooks?owner=ana')).json()).toEqual({ data: [made], next_cursor: null })
    expect((await api.get(self)).json()).toEqual(made)
    const change = { events: ['batch.completed', 'batch.completed'], description: null, enabled: false }
    expect((await send(api, 'PATCH', self, change)).json()).toMatchObject({
      ...{ url: URL_OK, events: ['batch.completed'], description: null, enabled: false },
      disabled_reason: expect.any(String),
    })
    expect((await send(api, 'PATCH', self, { enabled: true })).json()).toMatchObject({ disabled_reason: null })
    expect((await send(api, 'DELETE', self)).statusCode).toBe(204)
    expect((await send(api, 'DELETE', self)).json()).toMatchObject({ status: 404, code: 'webhook-not-found' })
    expect((await api.get('/webhooks/1')).json()).toMatchObject({ status: 404, code: 'webhook-not-found' })
  })

  test('pages of the list go on where the one before ended', async () => {
    const as = { 'holdfast-owner': 'pages' }
    const made = []
    for (const _ of [1, 2, 3]) made.unshift((await make(api, {}, as)).webhook_id)
    const first = (await api.get('/webhooks?owner=pages&limit=2')).json()
    const second = (await api.get(`/webhooks?owner=pages&limit=2&cursor=${first.next_cursor}`)).json()
    const ids = [...first.data, ...second.data].map(({ webhook_id }) => webhook_id)
    expect([ids, second.next_cursor]).toEqual([made, null])
  })

  test('has its secret in no other answer, in no log line and not in the audit', async () => {
    const { secret, links } = await make(api)
    const rotated = (await send(api, 'POST', `${links.self}/rotate-secret`)).json()
    expect(rotated.secret).not.toBe(secret)
    const seen = [
      (await api.get(links.self)).body,
      (await api.get('/webhooks')).body,
      (await send(api, 'PATCH', links.self, { description: 'x' })).body,
      (await api.get('/audit')).body,
      JSON.stringify(api.logLines),
    ]
    for (const text of seen) for (const one of [secret, rotated.secret]) expect(text).not.toContain(one)
    for (const text of seen.slice(3)) expect(text).not.toContain('of=me')
  })

  test('is in the audit with each of its changes', async () => {
    const { webhook_id: target, links } = await make(api, { owner: '*' }, { 'holdfast-owner': 'root' })
    await send(api, 'PATCH', links.self, { enabled: false })
    await send(api, 'POST', `${links.self}/rotate-secret`, { old_secret_seconds: 0 })
    await send(api, 'DELETE', links.self)
    const { data } = (await api.get('/audit?limit=4')).json()
    expect(data).toMatchObject([
      { action: 'webhook.delete', target },
      { action: 'webhook.rotate', target, data: { old_seconds: 0 } },
      { action: 'webhook.change', target, data: { enabled: false } },
      {
        ...{ action: 'webhook.create', target, actor_owner: 'root' },
        data: { owner: '*', url: 'https://hooks.example.org/holdfast', events: BODY.events },
      },
    ])
  })

  test.each([
    [{ url: 'hooks.example.org' }, '/url'],
    [{ url: `https://hooks.example.org/${'x'.repeat(3_000)}` }, '/url'],
    [{ events: [] }, '/events'],
    [{ events: ['run.exploded'] }, '/events/0'],
    [{ owner: 'bob' }, '/owner'],
    [{ secret: 'mine' }, '/secret'],
  ])('%.60j is refused', async (body, pointer) => {
    expect(await make(api, body)).toMatchObject({ code: 'invalid-body', errors: [{ pointer }] })
  })

  test('of the hundred that an owner may have, the next is refused', async () => {
    const as = { 'holdfast-owner': 'many' }
    await make(api, {}, as)
    await api.db.query(`
      WITH made AS (
        INSERT INTO receivers (id, channel, owner, kinds, slots, created_at, created_by)
        SELECT gen_random_uuid(), channel, owner, kinds, slots, created_at, created_by
        FROM receivers, generate_series(1, 99) WHERE owner = 'many' RETURNING id)
      INSERT INTO webhooks (id, url, secret) SELECT id, 'https://hooks.example.org/', 'whsec_' FROM made`)
    expect(await make(api, {}, as)).toMatchObject({ status: 409, code: 'webhook-limit' })
  })
})

describe('where it may go', () => {
  const ANSWERS: Record<string, string[]> = {
    'inside.example.org': ['127.0.0.1'],
    'metadata.example.org': ['169.254.169.254', 'fd00:ec2::254'],
    'mixed.example.org': ['10.0.0.1', '93.184.216.34'],
  }
  const lookUp = async (host: string) => {
    const found = ANSWERS[host]
    if (!found) throw new Error('ENOTFOUND')
    return found.map((address) => ({ address }))
  }
  let api: TestApi
  beforeAll(async () => {
    api = await openTestApi({ lookUp, config: { webhooks: { allow: ['hooks.internal', '10.1.0.0/16'] } } })
  })
  afterAll(() => api.close())

  test.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://localhost/',
    'https://inside.example.org/',
    'https://metadata.example.org/',
    'https://user:password@hooks.example.org/',
    'ftp://hooks.example.org/',
    'https://10.2.0.1/',
  ])('%s is refused when it is registered, and as a change', async (url) => {
    const refusal = { status: 422, code: 'webhook-url-refused', errors: [{ pointer: '/url' }] }
    expect(await make(api, { url })).toMatchObject(refusal)
    const { links } = await make(api)
    expect((await send(api, 'PATCH', links.self, { url })).json()).toMatchObject(refusal)
    expect((await api.get(links.self)).json()).toMatchObject({ url: URL_OK })
  })

  test.each([
    'https://hooks.example.org:8443/',
    'https://mixed.example.org/',
    'http://hooks.internal:8080/',
    'http://10.1.2.3:9000/',
  ])('%s is accepted', async (url) => {
    expect(await make(api, { url }, { 'holdfast-owner': 'accepted' })).toMatchObject({
      url,
      secret: expect.any(String),
    })
  })

  test('a URL is shown as it is understood', async () => {
    const made = await make(api, { url: ' HTTP://①⓪.1.515:80' })
    expect(made.url).toBe('http://10.1.2.3/')
  })
})

describe('who may', () => {
  let api: TestApi
  let tokens: Record<'alice' | 'bob' | 'star' | 'operator', TestToken>
  beforeAll(async () => {
    api = await openTestApi({ config: { access: TOKENS_ONLY } })
    tokens = {
      alice: await testToken(api.store, 'submitter'),
      bob: await testToken(api.store, 'submitter', { owner: 'bob' }),
      star: await testToken(api.store, 'submitter', { owner: '*' }),
      operator: await testToken(api.store, 'operator', { owner: 'root' }),
    }
  })
  afterAll(() => api.close())

  test('a webhook of a submitter hears of its owner, one of an operator of whom it names', async () => {
    expect(await make(api, {}, tokens.bob.headers)).toMatchObject({ owner: 'bob', created_by: 'bob' })
    const named = { ...tokens.operator.headers, 'holdfast-owner': 'dora' }
    expect(await make(api, {}, named)).toMatchObject({ owner: 'dora' })
    expect(await make(api, { owner: '*' }, tokens.operator.headers)).toMatchObject({ owner: '*', created_by: 'root' })
  })

  test('only operators hear of everybody’s runs, whatever an owner is called', async () => {
    const refusal = { code: 'forbidden', needed_role: 'operator' }
    expect(await make(api, { owner: '*' }, tokens.bob.headers)).toMatchObject(refusal)
    expect(await make(api, {}, tokens.star.headers)).toMatchObject(refusal)
    const { links } = await make(api, { owner: '*' }, tokens.operator.headers)
    for (const { headers } of [tokens.bob, tokens.star]) {
      expect((await api.get(links.self, headers)).json()).toMatchObject({ code: 'webhook-not-found' })
      expect((await api.get('/webhooks', headers)).body).not.toContain(links.self)
    }
  })

  test('a list shows an owner its own, and operators all', async () => {
    await make(api, {}, tokens.alice.headers)
    const owners = async (token: TestToken, query = '') =>
      new Set(
        (await api.get(`/webhooks${query}`, token.headers)).json().data.map(({ owner }: { owner: string }) => owner),
      )
    expect(await owners(tokens.alice)).toEqual(new Set(['alice']))
    expect(await owners(tokens.alice, '?owner=bob')).toEqual(new Set())
    expect(await owners(tokens.operator)).toEqual(new Set(['alice', 'bob', 'dora', '*']))
    expect(await owners(tokens.operator, '?owner=*')).toEqual(new Set(['*']))
  })
})

describe('a message', () => {
  /** What is due, sent as a relay sends it. */
  async function relayed(api: TestApi): Promise<ClaimedDelivery[]> {
    const claimed = await api.store.deliveries.claim({ limit: 10, leaseMs: 60_000, channels: ['webhook'] })
    const sender = createWebhookSender({ allow: ['127.0.0.1'], publicUrl: 'https://h.example.org' })
    for (const delivery of claimed) await sender.send(delivery, new AbortController().signal)
    await sender.close()
    return claimed
  }

  async function receiver() {
    const server = await scriptedServer()
    server.otherwise(answers(200))
    const api = await createTestApi({ config: { webhooks: { allow: ['127.0.0.1'] } } })
    return { server, api }
  }

  test('of a test verifies with the secret, and is not sent by a disabled webhook', async () => {
    const { server, api } = await receiver()
    const { secret, links } = await make(api, { url: `${server.url}/hook` })
    const asked = await send(api, 'POST', `${links.self}/test`)
    const { delivery_id, message_id } = asked.json()
    expect([asked.statusCode, message_id]).toEqual([202, `test_${delivery_id}`])
    await relayed(api)
    const { text, headers } = server.seen[0]!
    expect(headers['webhook-id']).toBe(message_id)
    expect(new PublicWebhook(secret).verify(text, headers as Record<string, string>)).toMatchObject({ type: 'test' })
    await send(api, 'PATCH', links.self, { enabled: false })
    expect((await send(api, 'POST', `${links.self}/test`)).json()).toMatchObject({ code: 'webhook-disabled' })
  })

  test('of a run that ended tells what happened, and where the rest is', async () => {
    const { server, api } = await receiver()
    await make(api, { url: server.url, events: ['run.succeeded'] })
    const run = await api.create({ title: 'Spring' })
    await api.settle(await api.claim(), { result: { ref: 'inline', hash: '0'.repeat(64), text: '{}' } })
    await api.store.outbox.spread(100)
    const [delivery] = await relayed(api)
    expect(server.seen[0]!.json()).toMatchObject({
      type: 'run.succeeded',
      timestamp: expect.any(String),
      data: {
        ...{ run_id: run.run_id, status: 'SUCCEEDED', model: 'forecast', title: 'Spring', owner: 'default' },
        links: { self: `https://h.example.org/runs/${run.run_id}` },
      },
    })
    expect(server.seen[0]!.headers['webhook-id']).toBe(delivery!.messageId)
  })

  test('is signed with both secrets until the time of the old one is over', async () => {
    const { server, api } = await receiver()
    const { secret: old, links } = await make(api, { url: server.url })
    const { secret, old_secret_until } = (await send(api, 'POST', `${links.self}/rotate-secret`)).json()
    expect(Date.parse(old_secret_until) - Date.now()).toBeGreaterThan(23 * 3_600_000)
    await send(api, 'POST', `${links.self}/test`)
    await relayed(api)
    await api.db.query(`UPDATE webhooks SET old_secret_until = clock() - interval '1 second'`)
    await send(api, 'POST', `${links.self}/test`)
    // The first was not settled and still holds its lease.
    await relayed(api)
    const verified = server.seen.map(({ text, headers }) =>
      [old, secret].map((one) => {
        try {
          return new PublicWebhook(one).verify(text, headers as Record<string, string>) !== null
        } catch {
          return false
        }
      }),
    )
    expect(verified).toEqual([
      [true, true],
      [false, true],
    ])
  })
})
