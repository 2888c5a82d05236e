import { expect, onTestFinished, test } from 'vitest'
import { createTestApi } from '../../../test/support/api.ts'
import { type FaultProxy, startProxy } from '../../../test/support/proxy.ts'
import { until } from '../../../test/support/until.ts'

async function createApiBehindProxy() {
  let proxy: FaultProxy | undefined
  const api = await createTestApi({
    async storeUrl(url) {
      const { hostname, port } = new URL(url)
      proxy = await startProxy({ host: hostname, port: Number(port) })
      onTestFinished(() => proxy!.close())
      return proxy.through(url)
    },
  })
  return { ...api, proxy: proxy! }
}

test('R385: /healthz returns 200', async () => {
  const { get } = await createTestApi()
  const response = await get('/healthz')
  expect(response.statusCode).toBe(200)
  expect(response.json()).toEqual({ status: 'ok', parts: { postgres: { ok: true, detail: 'answers' } } })
})

test('R202: /healthz is 503, in time, while the database does not answer, and 200 again afterwards', async () => {
  const { get, proxy } = await createApiBehindProxy()
  expect((await get('/healthz')).statusCode).toBe(200)
  proxy.halfOpen()
  const startedMs = performance.now()
  const silent = await get('/healthz')
  expect(performance.now() - startedMs).toBeLessThan(4_000)
  expect(silent.statusCode).toBe(503)
  expect(silent.json()).toMatchObject({ status: 'unavailable', parts: { postgres: { ok: false } } })
  expect((await get('/livez')).statusCode).toBe(200)
  proxy.resume()
  proxy.cut()
  await until(async () => (await get('/healthz')).statusCode === 200, { what: 'the service is healthy again' })
})

test('R202: /healthz and /readyz are 503 when the database is gone, without telling where it was', async () => {
  const { get, proxy } = await createApiBehindProxy()
  await proxy.close()
  for (const path of ['/healthz', '/readyz']) {
    const response = await get(path)
    expect(response.statusCode).toBe(503)
    expect(response.headers['retry-after']).toBe('5')
    expect(response.body).not.toMatch(/127\.0\.0\.1|ECONN|password/)
  }
})

test('R202: Redis is checked when it is configured', async () => {
  const wakeup = { name: 'redis', ping: async () => Promise.reject(new Error('no Redis')) }
  const { get } = await createTestApi({ wakeup })
  const response = await get('/healthz')
  expect(response.statusCode).toBe(503)
  expect(response.json().parts).toMatchObject({ postgres: { ok: true }, redis: { ok: false } })
})

test('a process that is stopping is alive and healthy but not ready', async () => {
  const { get } = await createTestApi({ isStopping: () => true })
  const codes = await Promise.all(['/livez', '/healthz', '/readyz'].map(async (path) => (await get(path)).statusCode))
  expect(codes).toEqual([200, 200, 503])
})

test('/metrics shows the depth of each queue', async () => {
  const { get, create } = await createTestApi()
  await create()
  const response = await get('/metrics')
  expect(response.headers['content-type']).toMatch(/^text\/plain/)
  expect(response.body).toContain('queue_depth{queue="default"} 1')
})

test('/metrics answers without depths when the database is gone', async () => {
  const { get, proxy } = await createApiBehindProxy()
  await proxy.close()
  const response = await get('/metrics')
  expect(response.statusCode).toBe(200)
  expect(response.body).toContain('runs_created_total 0')
})
