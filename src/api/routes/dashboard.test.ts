/** The dashboard as it is served: to browsers, to programs, to people who are not signed in, and behind a proxy. */

import { request as ask, createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApi, openTestApi, type TestApi } from '../../../test/support/api.ts'
import { builtDashboard, writeBuild } from '../../../test/support/dashboard.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'
import { until } from '../../../test/support/until.ts'
import type { DashboardBuildState } from '../dashboard-absent-page.ts'

const SCRIPT = 'console.log(1)\n'.repeat(100)
const ASSET = '/ui/assets/main-1.js'

let api: TestApi
let address: URL
let remove: () => Promise<void>
beforeAll(async () => {
  const folder = await tempFolder()
  remove = folder.remove
  await writeBuild(folder.path, { 'assets/main-1.js': SCRIPT, 'favicon.svg': '<svg/>' })
  api = await openTestApi({ dashboard: { dir: folder.path } })
  address = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }))
})
afterAll(async () => {
  await api.close()
  await remove()
})

const baseIn = (page: string) => /<base href="([^"]+)" \/>/.exec(page)?.[1]

describe('the page', () => {
  test.each([
    ['/ui/', './'],
    ['/ui/?status=FAILED', './'],
    ['/ui/index.html', './'],
    ['/ui/runs', './'],
    ['/ui/runs/', '../'],
    ['/ui/runs/0198c1f0?tab=a/b', '../'],
    ['/ui//runs/x', '../../'],
    ['/ui/queues/a%2Fb', '../'],
    ['/ui/missing.js', './'],
  ])('answers at %s with the base %s', async (url, base) => {
    const { statusCode, headers, body } = await api.get(url)
    expect([statusCode, headers['content-type'], baseIn(body)]).toEqual([200, 'text/html; charset=utf-8', base])
  })

  test('allows itself and nothing else, and the styles of this one answer', async () => {
    const { headers, body } = await api.get('/ui/runs/x')
    const nonce = /<meta name="style-nonce" content="([\w-]{22})" \/>/.exec(body)?.[1]
    expect(String(headers['content-security-policy']).split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "connect-src 'self'",
      "img-src 'self' data:",
      "font-src 'self'",
      "manifest-src 'self'",
      "worker-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'self'",
      "form-action 'self'",
    ])
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    expect((await api.get('/ui/runs/x')).body).not.toContain(nonce)
  })

  test('is loaded by a link on another site, such as one in a mail', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect((await api.get('/ui/runs/x', headers)).statusCode).toBe(200)
  })

  test.each(['evil.example', '192.168.0.4:4600'])(
    'is not served to the host %s while there are no tokens',
    async (host) => {
      expect((await api.get('/ui/', { host })).json().code).toBe('host-not-allowed')
    },
  )

  test('cannot be written to', async () => {
    const { statusCode, headers } = await api.app.inject({ method: 'PUT', url: '/ui/runs/x', payload: {} })
    expect([statusCode, headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  test('HEAD answers as GET would, without the page', async () => {
    const { statusCode, headers, body } = await api.app.inject({ method: 'HEAD', url: '/ui/runs/x' })
    expect([statusCode, headers['content-type'], body]).toEqual([200, 'text/html; charset=utf-8', ''])
    expect(Number(headers['content-length'])).toBeGreaterThan(100)
  })
})

describe('files', () => {
  test('of hashed names are kept for ever', async () => {
    const { statusCode, headers, body } = await api.get(ASSET)
    expect([statusCode, body]).toEqual([200, SCRIPT])
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      vary: 'Accept-Encoding',
    })
    expect(headers['content-encoding']).toBeUndefined()
  })

  test('of other names are asked for again', async () => {
    const first = await api.get('/ui/favicon.svg')
    expect([first.headers['content-type'], first.headers['cache-control']]).toEqual([
      'image/svg+xml; charset=utf-8',
      'no-cache',
    ])
    const again = await api.get('/ui/favicon.svg', { 'if-none-match': String(first.headers.etag) })
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', first.headers.etag])
  })

  test('come compressed, each form under a tag of its own', async () => {
    const zipped = await api.get(ASSET, { 'accept-encoding': 'gzip' })
    expect([zipped.headers['content-encoding'], gunzipSync(zipped.rawPayload).toString()]).toEqual(['gzip', SCRIPT])
    const small = await api.get(ASSET, { 'accept-encoding': 'gzip, deflate, br' })
    expect([small.headers['content-encoding'], small.headers.vary]).toEqual(['br', 'Accept-Encoding'])
    expect(small.headers.etag).not.toBe(zipped.headers.etag)
    const etag = String(zipped.headers.etag)
    expect((await api.get(ASSET, { 'accept-encoding': 'br', 'if-none-match': etag })).statusCode).toBe(200)
    expect((await api.get(ASSET, { 'accept-encoding': 'gzip', 'if-none-match': `"x", ${etag}` })).statusCode).toBe(304)
  })

  test('HEAD tells their size', async () => {
    const { headers, body } = await api.app.inject({ method: 'HEAD', url: ASSET })
    expect([headers['content-length'], body]).toEqual([String(SCRIPT.length), ''])
  })

  test.each([
    '/ui/assets/',
    '/ui/assets/gone-1.js',
    '/ui/assets//etc/passwd',
    '/ui/assets/..%2Findex.html',
    '/ui/assets/%2e%2e/index.html',
    '/ui/../package.json',
    '/ui/%2e%2e/%2e%2e/etc/passwd',
    '/ui/.%2e/runs',
    '/ui/%2e',
  ])('there is nothing at %s', async (url) => {
    const { statusCode, headers } = await raw(url)
    expect([statusCode, headers['content-type']]).toEqual([404, 'application/problem+json'])
  })

  test.each(['/ui%2F', '/ui%2Fassets%2Fmain-1.js', '/uix', '/UI/'])('%s is none of it', async (url) => {
    expect((await api.get(url)).statusCode).toBe(404)
  })

  test('there is nothing at what cannot be decoded', async () => {
    expect((await api.get('/ui/%zz')).statusCode).toBe(404)
    expect((await api.get('/ui/%00')).statusCode).toBe(404)
  })
})

describe('on the way to it', () => {
  test('a browser at / is sent there, relatively, and a program is told that there is nothing', async () => {
    const browser = await api.get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
    expect([browser.statusCode, browser.headers.location, browser.headers.vary]).toEqual([302, 'ui/', 'Accept'])
    for (const accept of [undefined, '*/*', 'application/json']) {
      const program = await api.get('/', accept ? { accept } : {})
      expect([program.statusCode, program.json().code]).toEqual([404, 'not-found'])
    }
  })

  test.each([
    ['/ui', 'ui/'],
    ['/ui?status=FAILED', 'ui/?status=FAILED'],
  ])('%s leads to %s', async (url, location) => {
    const { statusCode, headers } = await api.get(url)
    expect([statusCode, headers.location]).toEqual([302, location])
  })
})

test('with tokens, everyone gets the page and nobody gets data', async () => {
  const closed = await createTestApi({ config: { access: TOKENS_ONLY } })
  await testToken(closed.store, 'admin')
  const host = 'runs.example.org'
  expect((await closed.get('/ui/runs', { host })).statusCode).toBe(200)
  expect((await closed.get('/ui/runs', { host, authorization: 'Bearer hf_nonsense' })).statusCode).toBe(200)
  expect((await closed.get('/ui', { host, 'x-forwarded-for': '192.0.2.1' })).statusCode).toBe(302)
  expect((await closed.get('/runs', { host })).statusCode).toBe(401)
})

describe('while there is none', () => {
  async function openAbsent() {
    const dir = await builtDashboard()
    await writeBuild(dir, null)
    let state: DashboardBuildState = 'idle'
    const absent = await createTestApi({ dashboard: { dir, buildState: () => state } })
    return { dir, absent, set: (next: DashboardBuildState) => (state = next) }
  }

  test('a plain page says why, and asks again only while it is being built', async () => {
    const { absent, set } = await openAbsent()
    const said: Record<string, string> = {}
    for (const state of ['idle', 'failed', 'building'] as const) {
      set(state)
      const { statusCode, headers, body } = await absent.get('/ui/runs/x')
      expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
        503,
        'text/html; charset=utf-8',
        'no-store',
      ])
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[^ ]+'; /)
      expect(body).not.toContain('<script')
      said[state] = body
    }
    expect(said.building).toContain('<meta http-equiv="refresh"')
    expect(said.building).not.toContain('npm run build')
    for (const state of ['idle', 'failed']) {
      expect(said[state]).not.toContain('http-equiv')
      expect(said[state]).toContain('npm run build -w dashboard')
    }
    expect((await absent.get('/ui/assets/main-1.js')).statusCode).toBe(404)
  })

  test('it is served as soon as it is there', async () => {
    const { dir, absent } = await openAbsent()
    expect((await absent.get('/ui/')).statusCode).toBe(503)
    await writeBuild(dir, { 'assets/main-1.js': SCRIPT })
    expect((await absent.get('/ui/')).statusCode).toBe(200)
    expect((await absent.get('/ui/assets/main-1.js')).body).toBe(SCRIPT)
    await writeBuild(dir, { 'assets/main-2.js': `${SCRIPT}// again` })
    await until(async () => (await absent.get('/ui/assets/main-2.js')).statusCode === 200, {
      what: 'the new build is served',
    })
  })
})

describe('behind a proxy that puts a path in front', () => {
  const PREFIX = '/team/holdfast'
  let proxy: Server
  let origin: string
  beforeAll(async () => {
    proxy = createServer((request, response) => {
      const path = request.url!.slice(PREFIX.length)
      if (!request.url!.startsWith(`${PREFIX}/`)) return response.writeHead(404).end()
      const headers = { ...request.headers, host: address.host }
      return ask({ host: '127.0.0.1', port: address.port, path, method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      }).end()
    })
    await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready))
    origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  })
  afterAll(() => new Promise((closed) => proxy.close(closed)))

  test.each([`${PREFIX}/`, `${PREFIX}/ui`, `${PREFIX}/ui/`, `${PREFIX}/ui/runs/0198c1f0/?tab=logs`])(
    'from %s the browser finds the scripts and the API',
    async (path) => {
      const page = await fetch(`${origin}${path}`, { headers: { accept: 'text/html' } })
      const text = await page.text()
      const base = new URL(baseIn(text)!, page.url)
      expect(base.pathname).toBe(`${PREFIX}/ui/`)
      const script = new URL(/src="([^"]+)"/.exec(text)![1]!, base)
      expect(await (await fetch(script)).text()).toBe(SCRIPT)
      expect((await fetch(new URL('../healthz', base))).status).toBe(200)
    },
  )
})

/** As it is written: `inject` would resolve dots as a browser does. */
function raw(path: string): Promise<{ statusCode: number; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    ask({ host: '127.0.0.1', port: address.port, path }, (answer) => {
      answer.resume()
      resolve({ statusCode: answer.statusCode!, headers: answer.headers })
    })
      .on('error', reject)
      .end()
  })
}
