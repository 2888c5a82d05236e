import { describe, expect, test } from 'vitest'
import { createTestApi, type TestApi, type TestApiOptions } from '../../../test/support/api.ts'
import { type TestToken, TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'
import { SessionObject } from '../../contract/access.ts'

const LOCAL = { host: 'localhost:4600' }
const REMOTE = { host: 'runs.example.org' }
const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' }

async function closedApi(options: TestApiOptions = {}): Promise<{ api: TestApi; token: TestToken }> {
  const api = await createTestApi({ config: { access: TOKENS_ONLY, ...options.config } })
  return { api, token: await testToken(api.store, 'submitter', { owner: 'ada', name: 'laptop' }) }
}

function signIn({ app }: TestApi, token: string, headers: Record<string, string>) {
  return app.inject({
    method: 'POST',
    url: '/session',
    headers: { 'content-type': 'application/json', ...headers },
    payload: JSON.stringify({ token }),
  })
}

const signOut = ({ app }: TestApi, headers: Record<string, string>) =>
  app.inject({ method: 'DELETE', url: '/session', headers })
const cookieOf = (answer: { headers: Record<string, unknown> }) => String(answer.headers['set-cookie'])
const pairOf = (answer: { headers: Record<string, unknown> }) => cookieOf(answer).split(';')[0]!

describe('signing in', () => {
  test('sets a cookie that only this host gets, over https, and no script reads', async () => {
    const { api, token } = await closedApi()
    const answer = await signIn(api, token.text, REMOTE)
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(SessionObject.parse(answer.json())).toMatchObject({
      mode: 'tokens',
      role: 'submitter',
      owner: 'ada',
      token_name: 'laptop',
    })
    expect(cookieOf(answer)).toMatch(
      /^__Host-holdfast=hfs_[0-9A-Za-z]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
    )
    expect(cookieOf(answer)).not.toContain(token.text)
  })

  test('on plain http on this machine the cookie has a name that browsers accept there', async () => {
    const { api, token } = await closedApi()
    expect(cookieOf(await signIn(api, token.text, LOCAL))).toMatch(
      /^holdfast=hfs_[0-9A-Za-z]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
    )
  })

  test.each([
    ['a proxy says https', {}, { 'x-forwarded-proto': 'https' }],
    ['the public address is https', { http: { bodyLimitBytes: 1024, publicUrl: 'https://runs.example.org' } }, {}],
  ])('behind a proxy on this machine the cookie is secure when %s', async (_when, config, headers) => {
    const { api, token } = await closedApi({ config })
    expect(cookieOf(await signIn(api, token.text, { ...LOCAL, ...headers } as Record<string, string>))).toMatch(
      /^__Host-.*Secure$/,
    )
  })

  test.each(['hf_x', `hf_${'a'.repeat(43)}`, `hfs_${'a'.repeat(43)}`])(
    '%s is refused and sets nothing',
    async (text) => {
      const { api } = await closedApi()
      const answer = await signIn(api, text, REMOTE)
      expect([answer.statusCode, answer.json().code, answer.headers['set-cookie']]).toEqual([
        401,
        'unauthorized',
        undefined,
      ])
    },
  )

  test('a session cannot be exchanged for another, nor be sent as a token', async () => {
    const { api, token } = await closedApi()
    const session = pairOf(await signIn(api, token.text, LOCAL)).split('=')[1]!
    expect((await signIn(api, session, LOCAL)).statusCode).toBe(401)
    expect((await api.get('/runs', { authorization: `Bearer ${session}` })).statusCode).toBe(401)
  })

  test('from a page of another site is refused', async () => {
    const { api, token } = await closedApi()
    const answer = await signIn(api, token.text, { ...REMOTE, 'sec-fetch-site': 'cross-site' })
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([403, undefined])
  })

  test('counts against the rate limit of the token', async () => {
    const { api, token } = await closedApi({ config: { access: { ...TOKENS_ONLY, ratePerMinute: 1 } } })
    const codes = [await signIn(api, token.text, LOCAL), await signIn(api, token.text, LOCAL)]
    expect(codes.map(({ statusCode }) => statusCode)).toEqual([200, 429])
  })

  test('on an open service there is nothing to exchange', async () => {
    const api = await createTestApi()
    const answer = await signIn(api, 'anything', LOCAL)
    expect(SessionObject.parse(answer.json())).toMatchObject({ mode: 'open', role: 'admin', owner: 'default' })
    expect(answer.headers['set-cookie']).toBeUndefined()
  })
})

describe('a session', () => {
  test('may do what its token may, and no more', async () => {
    const { api, token } = await closedApi()
    const headers = { ...LOCAL, ...SAME_ORIGIN, cookie: pairOf(await signIn(api, token.text, LOCAL)) }
    expect((await api.create({}, headers)).owner).toBe('ada')
    expect((await api.get('/tokens', headers)).statusCode).toBe(403)
  })

  test('ends with its token', async () => {
    const { api, token } = await closedApi()
    const headers = { ...LOCAL, cookie: pairOf(await signIn(api, token.text, LOCAL)) }
    const admin = await testToken(api.store, 'admin')
    await api.app.inject({ method: 'DELETE', url: `/tokens/${token.id}`, headers: admin.headers })
    expect((await api.get('/runs', headers)).statusCode).toBe(401)
  })

  test('ends by signing out, which takes the cookie back', async () => {
    const { api, token } = await closedApi()
    const headers = { ...LOCAL, ...SAME_ORIGIN, cookie: pairOf(await signIn(api, token.text, LOCAL)) }
    expect((await api.get('/runs', headers)).statusCode).toBe(200)
    const out = await signOut(api, headers)
    expect([out.statusCode, cookieOf(out)]).toEqual([204, 'holdfast=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict'])
    expect((await api.get('/runs', headers)).statusCode).toBe(401)
    expect((await signOut(api, headers)).statusCode).toBe(204)
  })

  test('cannot be ended by another page', async () => {
    const { api, token } = await closedApi()
    const headers = { ...LOCAL, cookie: pairOf(await signIn(api, token.text, LOCAL)) }
    expect((await signOut(api, headers)).statusCode).toBe(403)
    expect((await api.get('/runs', headers)).statusCode).toBe(200)
  })

  test('yields to an Authorization header, even a wrong one', async () => {
    const { api, token } = await closedApi()
    const cookie = pairOf(await signIn(api, token.text, LOCAL))
    const headers = { ...LOCAL, cookie, authorization: 'Bearer wrong' }
    expect((await api.get('/runs', headers)).statusCode).toBe(401)
  })
})

describe('who am I', () => {
  test('on an open service: the administrator', async () => {
    const answer = await (await createTestApi()).get('/session', { 'holdfast-owner': 'ada' })
    expect(SessionObject.parse(answer.json())).toMatchObject({ mode: 'open', role: 'admin', owner: 'ada' })
  })

  test('with a token: its role and owner', async () => {
    const { api, token } = await closedApi()
    expect(SessionObject.parse((await api.get('/session', token.headers)).json())).toEqual({
      mode: 'tokens',
      role: 'submitter',
      owner: 'ada',
      token_id: token.id,
      token_name: 'laptop',
      expires_at: null,
    })
  })

  test.each<Record<string, string>>([
    {},
    { authorization: 'Bearer hf_wrong' },
    { cookie: `holdfast=hfs_${'a'.repeat(43)}` },
  ])('with %j: nobody', async (headers) => {
    const { api } = await closedApi()
    const answer = SessionObject.parse((await api.get('/session', headers)).json())
    expect(answer).toMatchObject({ mode: 'tokens', role: null, owner: null })
  })
})
