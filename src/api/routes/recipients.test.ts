import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { type TestToken, TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'
import type { RecipientObject } from '../../contract/recipient.ts'
import { MAIL_KINDS } from '../../run/fact-kinds.ts'
import { unsubscribeToken } from '../../run/unsubscribe-token.ts'

let api: TestApi
let alice: TestToken
let bob: TestToken
let operator: TestToken
beforeAll(async () => {
  api = await openTestApi({ config: { access: TOKENS_ONLY } })
  ;[alice, bob, operator] = await Promise.all([
    testToken(api.store, 'submitter'),
    testToken(api.store, 'submitter', { owner: 'bob' }),
    testToken(api.store, 'operator', { owner: 'ops' }),
  ])
})
afterAll(() => api.close())

let addresses = 0
const newAddress = () => `person-${++addresses}@example.org`

function put(body: object, token = alice) {
  return api.app.inject({ method: 'POST', url: '/recipients', headers: token.headers, payload: body })
}

async function made(body: object = {}, token = alice): Promise<RecipientObject> {
  const answer = await put({ address: newAddress(), ...body }, token)
  expect(answer.statusCode).toBe(201)
  return answer.json()
}

const read = async (id: string, token = operator) => (await api.get(`/recipients/${id}`, token.headers)).json()

describe('recipients', () => {
  test('a new address is told about everything when nothing is said', async () => {
    const answer = await put({ address: 'Ada@Example.ORG' })
    expect(answer.statusCode).toBe(201)
    const recipient = answer.json()
    expect(answer.headers.location).toBe(`/recipients/${recipient.recipient_id}`)
    expect(recipient).toMatchObject({
      owner: 'alice',
      address: 'Ada@example.org',
      kinds: MAIL_KINDS,
      enabled: true,
      disabled_reason: null,
      created_by: 'alice',
    })
  })

  test('the same address again is the same one, with the new kinds', async () => {
    const first = await made()
    const again = await put({ address: first.address, kinds: ['progress', 'progress'] })
    expect(again.statusCode).toBe(200)
    expect(again.json()).toMatchObject({ recipient_id: first.recipient_id, kinds: ['progress'] })
  })

  test.each([
    '',
    'nobody',
    'a@b',
    'a@b.org, c@d.org',
    'a@b.org\r\nBcc: c@d.org',
    'A <a@b.org>',
    `${'a'.repeat(250)}@b.org`,
  ])('takes no address such as %j', async (address) => {
    const answer = await put({ address })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().errors[0].pointer).toBe('/address')
  })

  test('only operators are told about everybody', async () => {
    expect((await put({ address: newAddress(), owner: '*' })).json().code).toBe('forbidden')
    expect(await made({ owner: '*' }, operator)).toMatchObject({ owner: '*' })
  })

  test('owners see their own, operators all', async () => {
    const hers = await made()
    const his = await made({}, bob)
    const seenBy = async (token: TestToken) =>
      (await api.get('/recipients?limit=200', token.headers))
        .json()
        .data.map((one: RecipientObject) => one.recipient_id)
    expect(await seenBy(alice)).toContain(hers.recipient_id)
    expect(await seenBy(alice)).not.toContain(his.recipient_id)
    expect(await seenBy(operator)).toEqual(expect.arrayContaining([hers.recipient_id, his.recipient_id]))
    expect((await api.get('/recipients?owner=bob', alice.headers)).json().data).toEqual([])
  })

  test('a deleted one is gone, and each act is in the audit', async () => {
    const { recipient_id: id, address, links } = await made()
    const deleted = await api.app.inject({ method: 'DELETE', url: links.self, headers: alice.headers })
    expect(deleted.statusCode).toBe(204)
    expect(await read(id)).toMatchObject({ code: 'recipient-not-found' })
    const audit = await api.db.query('SELECT action FROM audit_events WHERE target = $1 ORDER BY at', [address])
    expect(audit.map(({ action }) => action)).toEqual(['recipient.put', 'recipient.delete'])
  })

  test('a test mail becomes a delivery', async () => {
    const { recipient_id: id, links } = await made()
    const answer = await api.app.inject({ method: 'POST', url: `${links.self}/test`, headers: alice.headers })
    expect(answer.statusCode).toBe(202)
    const { delivery_id } = answer.json()
    const delivery = await api.get(`/deliveries/${delivery_id}`, alice.headers)
    expect(delivery.json()).toMatchObject({ receiver_id: id, channel: 'mail', kind: 'test', state: 'PENDING' })
  })

  test('an owner has so many addresses and no more', async () => {
    const carol = await testToken(api.store, 'submitter', { owner: 'carol' })
    await api.db.query(
      `WITH r AS (INSERT INTO receivers (id, channel, owner, kinds, slots, created_at, created_by)
         SELECT gen_random_uuid(), 'mail', 'carol', '{progress}', 1, clock(), 'carol' FROM generate_series(1, 100) RETURNING id)
       INSERT INTO mail_addresses (id, owner, address) SELECT id, 'carol', id || '@example.org' FROM r`,
    )
    expect((await put({ address: newAddress() }, carol)).json().code).toBe('recipient-limit')
    const [known] = (await api.get('/recipients?limit=1', carol.headers)).json().data
    expect((await put({ address: known.address, kinds: ['failure'] }, carol)).statusCode).toBe(200)
  })
})

describe('the link to unsubscribe', () => {
  async function linkOf({ recipient_id: receiverId }: RecipientObject, kind: 'progress' | null = 'progress') {
    return `/unsubscribe?token=${unsubscribeToken(await api.store.signingKey('unsubscribe'), { receiverId, kind })}`
  }
  const oneClick = (url: string, more: object = {}) =>
    api.app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'List-Unsubscribe=One-Click',
      ...more,
    })

  test('opened, it asks and changes nothing, however often', async () => {
    const recipient = await made()
    const url = await linkOf(recipient)
    for (const method of ['GET', 'HEAD', 'GET'] as const) {
      const answer = await api.app.inject({ method, url })
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['content-type']).toMatch(/^text\/html/)
    }
    expect(await read(recipient.recipient_id)).toEqual(recipient)
  })

  test('its page says for whom, and cannot be framed or changed from outside', async () => {
    const recipient = await made()
    const { body, headers } = await api.get(await linkOf(recipient))
    expect(body).toContain(recipient.address)
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['referrer-policy']).toBe('same-origin')
  })

  test('one click takes the kind of its mail away, and only that, also twice', async () => {
    const recipient = await made()
    const url = await linkOf(recipient)
    for (let clicks = 0; clicks < 2; clicks += 1) expect((await oneClick(url)).statusCode).toBe(200)
    expect(await read(recipient.recipient_id)).toMatchObject({
      enabled: true,
      kinds: MAIL_KINDS.filter((kind) => kind !== 'progress'),
    })
  })

  test('the page offers to stop everything', async () => {
    const recipient = await made()
    const { body } = await api.get(await linkOf(recipient))
    const actions = [...body.matchAll(/action="([^"]+)"/g)].map(([, action]) => action!.replaceAll('&amp;', '&'))
    expect(actions).toHaveLength(2)
    const origin = { origin: 'http://localhost:80', host: 'localhost:80', 'sec-fetch-site': 'same-origin' }
    const headers = { ...origin, 'content-type': 'application/x-www-form-urlencoded' }
    expect((await oneClick(`/unsubscribe${actions[1]}`, { headers, payload: '' })).statusCode).toBe(200)
    expect(await read(recipient.recipient_id)).toMatchObject({ enabled: false })
  })

  test('who unsubscribed gets no test mail, and mail again after being put back', async () => {
    const recipient = await made()
    await oneClick(await linkOf(recipient, null))
    const asked = { method: 'POST', url: `${recipient.links.self}/test`, headers: alice.headers } as const
    expect((await api.app.inject(asked)).json().code).toBe('recipient-disabled')
    await put({ address: recipient.address })
    expect((await api.app.inject(asked)).statusCode).toBe(202)
  })

  test('a form of multipart, a body of JSON and none at all are one click too', async () => {
    for (const [type, payload] of [
      [
        'multipart/form-data; boundary=x',
        '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--',
      ],
      ['application/json', '{}'],
      [undefined, undefined],
    ]) {
      const recipient = await made()
      const headers = type === undefined ? {} : { 'content-type': type }
      expect((await oneClick(await linkOf(recipient), { headers, payload })).statusCode).toBe(200)
      expect((await read(recipient.recipient_id)).kinds).not.toContain('progress')
    }
  })

  test('a page of another site cannot click', async () => {
    const recipient = await made()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' }
    expect((await oneClick(await linkOf(recipient), { headers })).json().code).toBe('cross-site-request')
    expect(await read(recipient.recipient_id)).toEqual(recipient)
  })

  test.each(['GET', 'POST'] as const)('%s with a link that was not made here changes nothing', async (method) => {
    const { recipient_id: receiverId } = await made()
    const url = `/unsubscribe?token=${unsubscribeToken('another key', { receiverId, kind: null })}`
    const answer = await api.app.inject({ method, url })
    expect(answer.statusCode).toBe(404)
    expect(answer.json().code).toBe('unsubscribe-link-invalid')
    expect(await read(receiverId)).toMatchObject({ enabled: true })
  })

  test.each(['GET', 'POST'] as const)(
    '%s for an address that is gone says that nothing is left to do',
    async (method) => {
      const recipient = await made()
      const url = await linkOf(recipient)
      await api.app.inject({ method: 'DELETE', url: recipient.links.self, headers: alice.headers })
      const answer = await api.app.inject({ method, url })
      expect(answer.statusCode).toBe(200)
      expect(answer.body).toContain('nothing left to do')
    },
  )

  test('a body without end is refused', async () => {
    const recipient = await made()
    const answer = await oneClick(await linkOf(recipient), { payload: 'x'.repeat(10_000) })
    expect(answer.statusCode).toBe(413)
    expect(await read(recipient.recipient_id)).toEqual(recipient)
  })
})
