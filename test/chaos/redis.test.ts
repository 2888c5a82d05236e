/** Wake-ups over Redis, end to end: API and worker as processes, the queue read from outside, Redis flushed and killed. */

import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Chaos, openChaos } from '../support/chaos.ts'
import { getRun, postRun, runEnds } from '../support/http.ts'
import { type Running, stopped } from '../support/processes.ts'
import { NO_REDIS, redisForTests } from '../support/redis.ts'
import { until } from '../support/until.ts'

const redis = await redisForTests()
if (!redis) process.stderr.write(`Tests of the service with Redis are left out: ${NO_REDIS}\n`)

/** So long that only a wake-up can be quicker. */
const POLL_MS = 30_000
const QUEUE = 'holdfast:queue:default'

describe.skipIf(!redis)(`a service with Redis${redis ? '' : ` (left out: ${NO_REDIS})`}`, () => {
  const client = createClient({ url: redis?.url })
  let chaos: Chaos
  let api: Running & { url: string }
  let worker: Running

  beforeAll(async () => {
    client.on('error', () => {})
    await client.connect()
    chaos = await openChaos({ REDIS_URL: redis!.url, HOLDFAST_POLL_SECONDS: String(POLL_MS / 1_000) })
    api = await chaos.place.startApi()
  })
  afterAll(async () => {
    client.destroy()
    await redis?.stop()
    await chaos.close()
  })

  it('R381: the same payload twice is the same run, and the queue holds its message after the POST', async () => {
    const body = JSON.stringify({ model: 'adds', parameters: { n: 1 } })
    const headers = { 'content-type': 'application/json' }
    const answers = await Promise.all(
      [1, 2].map(async () => (await fetch(`${api.url}/runs`, { method: 'POST', headers, body })).json()),
    )
    const ids = answers.map((answer) => (answer as { run_id: string }).run_id)
    expect(ids[0]).toBe(ids[1])
    await until(async () => (await client.lLen(QUEUE)) > 0, { what: 'the queue holds a message' })
    expect(await client.lRange(QUEUE, 0, -1)).toEqual([ids[0]])
    expect((await getRun(api.url, ids[0]!)).status).toBe('PENDING')
  })

  it('/healthz checks Redis too', async () => {
    const health = (await (await fetch(`${api.url}/healthz`)).json()) as object
    expect(health).toMatchObject({ status: 'ok', parts: { postgres: { ok: true }, redis: { ok: true } } })
  })

  it('a worker takes the message and wakes at once, long before it would look by itself', async () => {
    worker = await chaos.place.startWorker()
    await until(async () => (await client.lLen(QUEUE)) === 0, { what: 'the message is taken' })
    const { run } = await postRun(api.url, 'adds', { n: 2 })
    const ended = await runEnds(api.url, run.run_id)
    expect(Date.parse(ended.started_at!) - Date.parse(ended.created_at)).toBeLessThan(2_000)
  })

  it('a cancel reaches the running handler over Redis', async () => {
    const { run } = await postRun(api.url, 'waits', { folder: chaos.place.folder, go: 'never' })
    await chaos.place.marked(run.run_id, 1, 'begun')
    await fetch(`${api.url}/runs/${run.run_id}/cancel`, { method: 'POST' })
    expect((await runEnds(api.url, run.run_id)).status).toBe('CANCELLED')
    await stopped(worker)
  })

  it('a flushed Redis costs latency only', async () => {
    const { run } = await postRun(api.url, 'adds', { n: 3 })
    await until(async () => (await client.lLen(QUEUE)) > 0, { what: 'the queue holds the message' })
    await client.flushAll()
    worker = await chaos.place.startWorker({ HOLDFAST_POLL_SECONDS: '0.2' })
    expect((await runEnds(api.url, run.run_id)).status).toBe('SUCCEEDED')
  })

  it('a killed Redis costs latency only, and /healthz says that it is gone', async () => {
    await redis!.stop()
    const { status, run } = await postRun(api.url, 'adds', { n: 4 })
    expect(status).toBe(201)
    expect((await runEnds(api.url, run.run_id)).status).toBe('SUCCEEDED')
    const health = await fetch(`${api.url}/healthz`)
    expect([health.status, await health.json()]).toMatchObject([503, { parts: { redis: { ok: false } } }])
    expect(await stopped(worker, api)).toEqual([0, 0])
  })
})
