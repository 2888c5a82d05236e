import { describe, expect, test } from 'vitest'
import { createTestApi, type TestApi } from '../../../test/support/api.ts'
import { TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'
import { until } from '../../../test/support/until.ts'
import { AuditAnswer, TokenListAnswer, TokenMadeAnswer, TokenObject } from '../../contract/access.ts'
import { Refusal } from '../../run/errors.ts'

const CLOSED = { config: { access: TOKENS_ONLY } }

function send({ app }: TestApi, method: 'POST' | 'DELETE', url: string, headers: object, body?: object) {
  const payload = body === undefined ? undefined : JSON.stringify(body)
  return app.inject({
    method,
    url,
    payload,
    headers: { ...(payload && { 'content-type': 'application/json' }), ...headers },
  })
}

async function closedApi() {
  const api = await createTestApi(CLOSED)
  return { api, admin: await testToken(api.store, 'admin', { owner: 'root' }) }
}

describe('making a token', () => {
  test('answers it once; afterwards nobody can read it', async () => {
    const { api, admin } = await closedApi()
    const body = { role: 'viewer', owner: 'bob', name: 'laptop', expires_in_seconds: 3600 }
    const answer = await send(api, 'POST', '/tokens', admin.headers, body)
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([201, 'no-store'])
    const { token, ...made } = TokenMadeAnswer.parse(answer.json())
    expect(token).toMatch(/^hf_[0-9A-Za-z]{43}$/)
    expect(made).toMatchObject({ role: 'viewer', owner: 'bob', name: 'laptop', queues: null, created_by: 'root' })
    expect(Date.parse(made.expires_at!) - Date.parse(made.created_at)).toBe(3_600_000)

    const line = api.logLines.find(({ msg }) => msg === 'token made')
    expect(line).toMatchObject({ access_id: made.token_id, access_role: 'viewer', owner: 'bob' })
    const list = await api.get('/tokens', admin.headers)
    expect(TokenListAnswer.parse(list.json()).data[0]).toEqual(made)
    const stored = JSON.stringify(await api.db.query("SELECT t.*, encode(token_hash, 'hex') FROM api_tokens t"))
    for (const text of [list.body, stored, JSON.stringify(api.logLines)]) expect(text).not.toContain(token)
    expect((await api.get('/runs', { authorization: `Bearer ${token}` })).statusCode).toBe(200)
  })

  test('a worker token may be bound to queues', async () => {
    const { api, admin } = await closedApi()
    const answer = await send(api, 'POST', '/tokens', admin.headers, {
      role: 'worker',
      owner: 'w',
      queues: ['gpu', 'gpu'],
    })
    expect(answer.json()).toMatchObject({ queues: ['gpu'], name: 'worker w', expires_at: null })
  })

  test.each([
    [{}, '/role'],
    [{ role: 'public', owner: 'x' }, '/role'],
    [{ role: 'viewer', owner: '' }, '/owner'],
    [{ role: 'viewer', owner: 'ü' }, '/owner'],
    [{ role: 'viewer', owner: 'x', queues: ['gpu'] }, '/queues'],
    [{ role: 'worker', owner: 'x', queues: [] }, '/queues'],
    [{ role: 'viewer', owner: 'x', expires_in_seconds: 0 }, '/expires_in_seconds'],
    [{ role: 'viewer', owner: 'x', expires_in_seconds: 1e12 }, '/expires_in_seconds'],
    [{ role: 'viewer', owner: 'x', token: 'hf_mine' }, '/token'],
  ])('the body %j is refused at %s', async (body, pointer) => {
    const { api, admin } = await closedApi()
    const answer = await send(api, 'POST', '/tokens', admin.headers, body)
    expect(answer.statusCode).toBe(400)
    expect(answer.json().errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
  })

  test('the first one ends open access at once, also for whoever made it', async () => {
    const api = await createTestApi()
    const answer = await send(api, 'POST', '/tokens', {}, { role: 'admin', owner: 'root' })
    expect(answer.statusCode).toBe(201)
    expect((await api.get('/runs')).statusCode).toBe(401)
    expect((await api.get('/runs', { authorization: `Bearer ${answer.json().token}` })).statusCode).toBe(200)
  })
})

describe('revoking a token', () => {
  test('ends it here at once, is idempotent, and leaves others alone', async () => {
    const { api, admin } = await closedApi()
    const [ended, other] = [await testToken(api.store, 'viewer'), await testToken(api.store, 'viewer')]
    expect((await api.get('/runs', ended.headers)).statusCode).toBe(200)
    const first = await send(api, 'DELETE', `/tokens/${ended.id}`, admin.headers)
    const again = await send(api, 'DELETE', `/tokens/${ended.id.toUpperCase()}`, admin.headers)
    expect(first.statusCode).toBe(200)
    expect(TokenObject.parse(first.json()).revoked_at).not.toBeNull()
    expect(again.json()).toEqual(first.json())
    const refused = await api.get('/runs', ended.headers)
    expect([refused.statusCode, refused.json().detail]).toEqual([401, 'The access token was revoked.'])
    expect((await api.get('/runs', other.headers)).statusCode).toBe(200)
  })

  test('elsewhere ends it within seconds', async () => {
    const { api } = await closedApi()
    const token = await testToken(api.store, 'viewer')
    expect((await api.get('/runs', token.headers)).statusCode).toBe(200)
    await api.store.tokens.revoke(token.id, { tokenId: null, owner: 'test', requestId: null })
    await until(async () => (await api.get('/runs', token.headers)).statusCode === 401, {
      what: 'the token stops working',
      timeoutMs: 5_000,
    })
  })

  test.each(['x', '01890a0b-0c0d-7000-8000-000000000000'])('the unknown token %s is 404', async (id) => {
    const { api, admin } = await closedApi()
    const answer = await send(api, 'DELETE', `/tokens/${id}`, admin.headers)
    expect([answer.statusCode, answer.json().code]).toEqual([404, 'token-not-found'])
  })
})

test('the use of a token is noted without a request waiting for it', async () => {
  const { api } = await closedApi()
  const { id, headers } = await testToken(api.store, 'viewer')
  await api.get('/runs', headers)
  await until(
    async () => (await api.db.query('SELECT FROM api_tokens WHERE id = $1 AND last_used_at IS NOT NULL', [id])).length,
    {
      what: 'the use is noted',
    },
  )
})

test('the audit tells who made and who revoked, page by page', async () => {
  const { api, admin } = await closedApi()
  const made = await send(
    api,
    'POST',
    '/tokens',
    { ...admin.headers, 'x-request-id': 'r-1' },
    { role: 'viewer', owner: 'bob' },
  )
  await send(api, 'DELETE', `/tokens/${made.json().token_id}`, { ...admin.headers, 'holdfast-owner': 'carol' })
  const first = AuditAnswer.parse((await api.get('/audit?limit=1', admin.headers)).json())
  const second = AuditAnswer.parse((await api.get(`/audit?limit=1&cursor=${first.next_cursor}`, admin.headers)).json())
  expect([...first.data, ...second.data]).toMatchObject([
    { action: 'token.revoke', target: made.json().token_id, actor_token_id: admin.id, actor_owner: 'carol' },
    {
      action: 'token.create',
      target: made.json().token_id,
      actor_owner: 'root',
      request_id: 'r-1',
      data: { owner: 'bob' },
    },
  ])
  expect(JSON.stringify([first, second])).not.toContain(made.json().token)
})

test.each(['/tokens?limit=0', '/tokens?cursor=x', '/audit?cursor=x', '/audit?limt=1'])(
  '%s is refused',
  async (path) => {
    const { api, admin } = await closedApi()
    const answer = await api.get(path, admin.headers)
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'invalid-query'])
  },
)

test.each([
  ['Basic YTpi', 'The Authorization header does not hold a token of this service.'],
  ['Bearer', 'The Authorization header does not hold a token of this service.'],
  ['Bearer hf_short', 'The Authorization header does not hold a token of this service.'],
  [`Bearer hf_${'a'.repeat(43)}`, 'The access token is not known here.'],
])('the header %j is 401', async (authorization, detail) => {
  const { api } = await closedApi()
  const answer = await api.get('/runs', { authorization })
  expect([answer.statusCode, answer.json().detail, answer.headers['www-authenticate']]).toEqual([
    401,
    detail,
    'Bearer realm="holdfast"',
  ])
})

test('the scheme is read in any case', async () => {
  const { api, admin } = await closedApi()
  expect((await api.get('/runs', { authorization: `bearer ${admin.text}` })).statusCode).toBe(200)
})

test('a database that is away is 503, not 401', async () => {
  const away = () => Promise.reject(new Refusal('database-unavailable', 'The database cannot be reached right now.'))
  const api = await createTestApi({
    ...CLOSED,
    store: (store) => ({ ...store, tokens: { ...store.tokens, findByHash: away } }),
  })
  expect((await api.get('/runs', { authorization: `Bearer hf_${'a'.repeat(43)}` })).statusCode).toBe(503)
})
