import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { BODY, createTestApi, type TestApi } from '../../test/support/api.ts'
import { ProblemObject } from '../contract/problem.ts'
import { ERRORS, Refusal } from '../run/errors.ts'
import { problemOf } from './problem.ts'

async function listen({ app }: TestApi): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** Sends the text as it is and reads until the service closes the connection. */
async function exchange(port: number, text: string): Promise<{ head: string; problem: ProblemObject }> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.write(text, 'latin1')
  await once(socket, 'close')
  const [head, body] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  return { head: head!, problem: ProblemObject.parse(JSON.parse(body!)) }
}

test.each(Object.keys(ERRORS) as (keyof typeof ERRORS)[])(
  '%s becomes a problem with the status of the catalogue',
  (code) => {
    const problem = ProblemObject.parse(problemOf(new Refusal(code, 'why'), 'req-1'))
    expect(problem).toMatchObject({ code, status: ERRORS[code].status, detail: 'why', instance: 'req-1' })
    expect(problem.errors).toBeUndefined()
  },
)

test('a path without a route is 404', async () => {
  const { get } = await createTestApi()
  const response = await get('/nowhere?x=1')
  expect(response.statusCode).toBe(404)
  expect(ProblemObject.parse(response.json())).toMatchObject({
    code: 'not-found',
    detail: expect.stringContaining('/nowhere'),
  })
})

test.each([
  ['DELETE', '/runs', 'GET, HEAD, POST'],
  ['PUT', '/runs/7', 'GET, HEAD'],
  ['GET', '/runs/7/cancel', 'POST'],
  ['OPTIONS', '/runs', 'GET, HEAD, POST'],
  ['PATCH', '/healthz', 'GET, HEAD'],
] as const)('%s %s is 405 and allows %s', async (method, url, allow) => {
  const { app } = await createTestApi()
  const response = await app.inject({ method, url, headers: { 'content-type': 'application/json' } })
  expect(response.statusCode).toBe(405)
  expect(response.headers.allow).toBe(allow)
  expect(ProblemObject.parse(response.json()).code).toBe('method-not-allowed')
})

test('a sane X-Request-Id is kept, shown and the instance of the problem', async () => {
  const { get } = await createTestApi()
  const response = await get('/nowhere', { 'x-request-id': 'abc-1.2_3' })
  expect(response.headers['x-request-id']).toBe('abc-1.2_3')
  expect(response.json().instance).toBe('abc-1.2_3')
})

test.each(['', 'a b', '<script>', 'x'.repeat(129), 'a"b'])('the request id %j is replaced', async (id) => {
  const { get } = await createTestApi()
  const response = await get('/livez', { 'x-request-id': id })
  expect(response.headers['x-request-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
})

test('an unexpected error is 500, is logged with the request id and tells nothing', async () => {
  const secret = new Error('SELECT * FROM secrets failed in /srv/app')
  const { get, logLines } = await createTestApi({
    store: (store) => ({ ...store, readRun: () => Promise.reject(secret) }),
  })
  const response = await get('/runs/01890a0b-0c0d-7000-8000-000000000000', { 'x-request-id': 'req-9' })
  expect(response.statusCode).toBe(500)
  expect(response.json()).toMatchObject({ code: 'internal-error', retryable: true })
  expect(response.body).not.toMatch(/SELECT|srv|at /)
  const line = logLines.find(({ msg }) => msg === 'request failed')
  expect(line).toMatchObject({
    request_id: 'req-9',
    level: 'error',
    route: '/runs/:id',
    err: { message: secret.message },
  })
})

test.each([
  ['busy', '1'],
  ['database-unavailable', '5'],
] as const)('%s is 503 with Retry-After', async (code, seconds) => {
  const { submit, stored } = await createTestApi({
    store: (store) => ({ ...store, submit: async () => new Refusal(code, 'later') }),
  })
  const response = await submit(BODY)
  expect(response.statusCode).toBe(503)
  expect(response.headers['retry-after']).toBe(seconds)
  expect(response.json()).toMatchObject({ code, retryable: true })
  expect(await stored()).toEqual({ runs: 0, keys: 0 })
})

test('malformed HTTP is a problem too', async () => {
  const port = await listen(await createTestApi())
  const { head, problem } = await exchange(port, 'GARBAGE\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1.1 400 /)
  expect(head).toContain('Content-Type: application/problem+json')
  expect(problem.status).toBe(400)
})

test('headers that are too large are refused', async () => {
  const port = await listen(await createTestApi())
  const { problem } = await exchange(
    port,
    `GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`,
  )
  expect(problem.code).toBe('invalid-header')
})

test('a body that comes too slowly is 408 and nothing is stored', async () => {
  const api = await createTestApi({ config: { http: { bodyLimitBytes: 1_000, requestTimeoutMs: 200 } } })
  const port = await listen(api)
  const { head, problem } = await exchange(
    port,
    'POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"model":',
  )
  expect(head).toMatch(/^HTTP\/1.1 408 /)
  expect(problem).toMatchObject({ code: 'request-timeout', retryable: true })
  expect(await api.stored()).toEqual({ runs: 0, keys: 0 })
})

test('headers that come too slowly are 408', async () => {
  const api = await createTestApi({ config: { http: { bodyLimitBytes: 1_000, requestTimeoutMs: 200 } } })
  const { problem } = await exchange(await listen(api), 'GET /livez HTTP/1.1\r\nHost: loc')
  expect(problem.code).toBe('request-timeout')
})

test('a chunked body above the limit is 413', async () => {
  const api = await createTestApi({ config: { http: { bodyLimitBytes: 1_000 } } })
  const chunk = `400\r\n${' '.repeat(1024)}\r\n`
  const { head, problem } = await exchange(
    await listen(api),
    'POST /runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n' +
      `Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`,
  )
  expect(head).toMatch(/^HTTP\/1.1 413 /)
  expect(problem.code).toBe('body-too-large')
})

test.each([
  ['Idempotency-Key', 'idempotency-key-invalid'],
  ['Holdfast-Owner', 'invalid-header'],
])('two %s lines are 400, also when they are equal', async (name, code) => {
  const api = await createTestApi()
  const body = JSON.stringify(BODY)
  const { problem } = await exchange(
    await listen(api),
    `POST /runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `${name}: k\r\n${name.toLowerCase()}: k\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  expect(problem).toMatchObject({ status: 400, code })
  expect(await api.stored()).toEqual({ runs: 0, keys: 0 })
})

test('an odd request that the framework refuses is no fault of the service', async () => {
  const { app } = await createTestApi()
  const response = await app.inject({ method: 'QUERY' as 'GET', url: '/livez' })
  expect(response.statusCode).toBe(400)
  expect(ProblemObject.parse(response.json()).code).toBe('invalid-header')
})

test.each(['1.0', '1.1'])('a request of HTTP/%s without Host is refused', async (version) => {
  const port = await listen(await createTestApi())
  const { problem } = await exchange(port, `GET /livez HTTP/${version}\r\nConnection: close\r\n\r\n`)
  expect(problem.code).toBe('host-not-allowed')
})

test('a request that comes while the service closes is 503', async () => {
  const api = await createTestApi()
  let answer: { status: number; code: string } | undefined
  api.app.addHook('preClose', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/runs`)
    answer = { status: response.status, code: ProblemObject.parse(await response.json()).code }
  })
  const port = await listen(api)
  await api.app.close()
  expect(answer).toEqual({ status: 503, code: 'shutting-down' })
})
