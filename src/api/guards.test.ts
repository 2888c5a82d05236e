import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { TOKENS_ONLY, testToken } from '../../test/support/tokens.ts'
import { hashOf, makeSession } from './token-text.ts'

let api: TestApi
let unsafe: { method: string; url: string }[]
/** Those that take JSON and nothing else. */
let plain: { method: string; url: string }[]
let all: { method: string; url: string }[]
beforeAll(async () => {
  api = await openTestApi()
  await api.app.ready()
  all = api.app.registeredRoutes
  unsafe = all.filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method))
  plain = api.app.registeredRoutes.filter((route) => unsafe.includes(route) && route.body !== 'upload')
})
afterAll(() => api.close())

function send(route: { method: string; url: string }, headers: Record<string, string>, to: TestApi = api) {
  const url = route.url.replace(/:\w+/g, '01890a0b-0c0d-7000-8000-000000000000')
  return to.app.inject({
    method: route.method as 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    payload: '{}',
  })
}

async function codes(routes: typeof all, headers: Record<string, string>): Promise<unknown[]> {
  const answers = await Promise.all(routes.map((route) => send(route, headers)))
  return [...new Set(answers.map((answer) => `${answer.statusCode} ${answer.body && answer.json().code}`))]
}

test('there are unsafe routes to guard', () => {
  expect(unsafe.map(({ method, url }) => `${method} ${url}`)).toEqual(
    expect.arrayContaining(['POST /runs', 'POST /runs/:id/cancel']),
  )
})

describe('every unsafe route', () => {
  test.each<Record<string, string>>([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'nonsense' },
    { origin: 'https://evil.example' },
    { origin: 'http://localhost:3000' },
    { origin: 'http://localhost.evil.example:4600' },
    { origin: 'null' },
    { origin: '' },
  ])('refuses a page with %j', async (headers) => {
    expect(await codes(unsafe, { host: 'localhost:4600', ...headers })).toEqual(['403 cross-site-request'])
  })

  test.each<Record<string, string>>([
    { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:4600' },
    { 'sec-fetch-site': 'none' },
    {},
  ])('lets a request with %j through to its route', async (headers) => {
    const answers = await codes(unsafe, { host: 'localhost:4600', ...headers })
    expect(answers.filter((code) => /^403|^415/.test(String(code)))).toEqual([])
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    '',
  ])('refuses the content type %j', async (type) => {
    expect(await codes(plain, { 'content-type': type })).toEqual(['415 unsupported-media-type'])
  })

  test('refuses encoded bodies', async () => {
    expect(await codes(unsafe, { 'content-encoding': 'br' })).toEqual(['415 unsupported-media-type'])
  })
})

describe('every route', () => {
  test.each([
    'evil.example',
    'evil.example:4600',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '192.168.0.4',
    '[::2]:1',
  ])('does not answer to the host %j', async (host) => {
    const answers = await Promise.all(all.map((route) => send(route, { host })))
    expect(new Set(answers.map((answer) => answer.statusCode))).toEqual(new Set([403]))
  })

  test.each(['localhost', 'localhost:4600', 'LOCALHOST:1', '127.0.0.1:4600', '[::1]:4600', '[::1]'])(
    'answers to the host %s',
    async (host) => {
      const answers = await Promise.all(all.map((route) => send(route, { host })))
      expect(answers.filter((answer) => answer.statusCode === 403)).toEqual([])
    },
  )

  test.each(['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-anything'])(
    'refuses the header %s',
    async (name) => {
      const answers = await Promise.all(all.map((route) => send(route, { [name]: 'x' })))
      expect(new Set(answers.map((answer) => answer.statusCode))).toEqual(new Set([403]))
    },
  )
})

test('paths without a route are guarded too', async () => {
  expect(await codes([{ method: 'POST', url: '/nowhere' }], { origin: 'https://evil.example' })).toEqual([
    '403 cross-site-request',
  ])
})

test('a cancel without a body needs no content type', async () => {
  const { run_id } = await api.create()
  const answer = await api.app.inject({ method: 'POST', url: `/runs/${run_id}/cancel` })
  expect(answer.statusCode).toBe(200)
})

describe('with tokens', () => {
  let closed: TestApi
  let admin: Record<string, string>
  let cookie: string
  beforeAll(async () => {
    const http = { bodyLimitBytes: 1024 * 1024, publicUrl: 'https://runs.example.org/holdfast' }
    closed = await openTestApi({ config: { access: TOKENS_ONLY, http } })
    await closed.app.ready()
    const token = await testToken(closed.store, 'admin')
    admin = token.headers
    const session = makeSession()
    await closed.store.tokens.startSession({ hash: hashOf(session), tokenId: token.id, ttlSeconds: 600 })
    cookie = `other=1; __Host-holdfast=${session}`
  })
  afterAll(() => closed.close())

  async function refusals(routes: typeof all, headers: Record<string, string>): Promise<unknown[]> {
    const answers = await Promise.all(routes.map((route) => send(route, headers, closed)))
    const codeOf = ({ statusCode, body }: (typeof answers)[number]) =>
      statusCode >= 400 && body ? JSON.parse(body).code : ''
    return [...new Set(answers.map((answer) => `${answer.statusCode} ${codeOf(answer)}`))]
  }

  test.each<Record<string, string>>([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'https://runs.example.org.evil.example' },
  ])('every unsafe route refuses a page with %j, whatever it shows', async (headers) => {
    for (const shown of [admin, { cookie }, {}] as Record<string, string>[]) {
      expect(await refusals(unsafe, { host: 'runs.example.org', ...shown, ...headers })).toEqual([
        '403 cross-site-request',
      ])
    }
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded'])(
    'every unsafe route refuses the content type %s',
    async (type) => {
      expect(await refusals(plain, { ...admin, 'content-type': type })).toEqual(['415 unsupported-media-type'])
    },
  )

  test.each<Record<string, string>>([
    { host: 'runs.example.org' },
    { host: '10.0.0.5:4600', 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' },
    { host: 'upstream:4600', origin: 'https://runs.example.org' },
  ])('a proxy may stand before it: %j', async (headers) => {
    const answers = await refusals(all, { ...admin, ...headers })
    expect(answers.filter((code) => /^40[13]/.test(String(code)))).toEqual([])
  })

  /** Without those that end what the other tests need, and those that look at a token of their own and at no cookie. */
  const withCookie = () =>
    unsafe.filter(({ url }) => url !== '/session' && url !== '/unsubscribe' && !url.startsWith('/leases/'))

  test.each<Record<string, string>>([{}, { 'sec-fetch-site': 'none' }])(
    'a cookie alone does nothing, with %j',
    async (headers) => {
      expect(await refusals(withCookie(), { cookie, host: 'runs.example.org', ...headers })).toEqual([
        '403 cross-site-request',
      ])
    },
  )

  test.each<Record<string, string>>([{ 'sec-fetch-site': 'same-origin' }, { origin: 'https://runs.example.org' }])(
    'a cookie and a page of ours with %j may go on',
    async (headers) => {
      const answers = await refusals(withCookie(), { cookie, host: 'runs.example.org', ...headers })
      expect(answers.filter((code) => /^40[13]/.test(String(code)))).toEqual([])
    },
  )

  test('reading with a cookie needs no more than the cookie', async () => {
    expect((await closed.get('/tokens', { cookie, host: 'runs.example.org' })).statusCode).toBe(200)
  })

  test('the name that plain http on this machine uses is not believed elsewhere', async () => {
    const local = cookie.replace('__Host-holdfast', 'holdfast')
    expect((await closed.get('/tokens', { cookie: local, host: 'runs.example.org' })).statusCode).toBe(401)
  })
})
