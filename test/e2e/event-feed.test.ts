/**
 * The feed of events from real API processes: killed in the middle of a stream and started again, and with a thousand
 * readers at once. The database has no worker; the test writes the lives of runs itself.
 */

import { readFileSync } from 'node:fs'
import { Agent, get as httpGet, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Chaos, openChaos } from '../support/chaos.ts'
import { postRun } from '../support/http.ts'
import { newRun } from '../support/new-run.ts'
import { readSse, type SseReader } from '../support/sse.ts'
import { settlementOf, WORKER } from '../support/store.ts'
import { until } from '../support/until.ts'

const WAITERS = 500
const MEMORY_MAX_MB = 300

let chaos: Chaos
beforeAll(async () => {
  chaos = await openChaos({ HOLDFAST_DATABASE_POOL: '5', HOLDFAST_LOG_LEVEL: 'warn' })
})
afterAll(() => chaos.close())

/** Three events of a new run. */
async function live(): Promise<string> {
  const { store } = chaos.api
  const run = newRun({ model: 'adds', parameters: { n: 1 }, parametersText: '{"n":1}' })
  await store.submit(run)
  const models = [{ model: run.model, version: run.modelVersion, room: 1 }]
  const queues = [{ queue: run.queue, room: 1 }]
  const [lease] = await store.claim({ workerId: WORKER, leaseMs: 60_000, slots: 1, queues, models })
  await store.settle(settlementOf(lease!, 'succeed'))
  return run.id
}

async function startApi() {
  const api = chaos.place.run(['api'], { HOLDFAST_LOG_LEVEL: 'info' })
  const { url } = await api.says('listening', 30_000)
  return { ...api, url: String(url) }
}

it('an API killed in the middle of a stream and started again has every event once for a client that comes back', async () => {
  const seen: string[] = []
  const runIds: string[] = []
  let lastId = ''
  const take = (reader: SseReader) => {
    for (const { event, data } of reader.messages) {
      expect(event).toBe('message')
      seen.push(`${data.run_id} ${data.seq}`)
    }
    lastId = reader.lastId()
  }

  for (let round = 0; round < 3; round += 1) {
    const api = await startApi()
    const reader = await readSse(`${api.url}/events`, lastId === '' ? {} : { 'last-event-id': lastId })
    await until(() => reader.lastId() !== '', { what: 'the stream has a place' })
    let isWriting = true
    const writing = (async () => {
      while (isWriting) runIds.push(await live())
    })()
    // Killed while events are on their way.
    await reader.has(40)
    api.kill('SIGKILL')
    await api.exited
    await reader.ends()
    isWriting = false
    await writing
    take(reader)
  }

  const api = await startApi()
  const reader = await readSse(`${api.url}/events`, { 'last-event-id': lastId })
  const expected = runIds.flatMap((runId) => [1, 2, 3].map((seq) => `${runId} ${seq}`))
  await reader.has(expected.length - seen.length)
  take(reader)
  expect(seen.length).toBe(expected.length)
  expect(new Set(seen)).toEqual(new Set(expected))
  reader.close()
  api.kill('SIGTERM')
  expect(await api.exited).toMatchObject({ code: 0 })
}, 60_000)

it('a thousand readers and waiters fit into one API process, which still takes runs', async () => {
  const api = await startApi()
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY })
  const { run } = await postRun(api.url, 'adds', { n: 2 })
  const counts = { messages: 0, ended: 0, answered: 0 }
  const headers = { accept: 'text/event-stream' }
  let open = 0
  for (let number = 0; number < WAITERS; number += 1) {
    const path = number % 2 === 0 ? '/events' : `/runs/${run.run_id}/events`
    httpGet(`${api.url}${path}`, { agent, headers }, (response) => {
      open += 1
      response.setEncoding('utf8').on('data', (text: string) => {
        counts.messages += text.split('\ndata: ').length - 1
      })
      response.on('end', () => (counts.ended += 1)).on('error', () => {})
    }).on('error', () => {})
    const waiting = { agent, headers: { prefer: 'wait=50' } }
    httpRequest(`${api.url}/runs/${run.run_id}`, waiting, (response) => {
      response.resume().on('end', () => (counts.answered += 1))
    }).end()
  }
  // The event that made the run has come on every stream of it.
  await until(() => open === WAITERS && counts.messages >= WAITERS / 2, {
    what: 'all streams are open',
    timeoutMs: 20_000,
  })

  const begun = performance.now()
  const submitted = await Promise.all(Array.from({ length: 20 }, (_, n) => postRun(api.url, 'adds', { n })))
  expect(submitted.map(({ status }) => status)).toEqual(Array(20).fill(201))
  expect(performance.now() - begun).toBeLessThan(5_000)
  // Each of them is news to the readers of everything.
  await until(() => counts.messages >= WAITERS / 2 + (20 * WAITERS) / 2, { what: 'all have heard', timeoutMs: 20_000 })
  expect(counts.answered).toBe(0)

  expect(residentMb(api.pid)).toBeLessThan(MEMORY_MAX_MB)
  const sessions = await chaos.api.db.query<{ count: number }>(
    `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'holdfast api%'`,
  )
  expect(sessions[0]!.count).toBeLessThan(25)

  await chaos.api.store.cancel(run.run_id)
  await until(() => counts.answered === WAITERS && counts.ended >= WAITERS / 2, {
    what: 'the end of the run is known to all who wait for it',
    timeoutMs: 20_000,
  })
  expect(residentMb(api.pid)).toBeLessThan(MEMORY_MAX_MB)
  api.kill('SIGTERM')
  expect(await api.exited).toMatchObject({ code: 0 })
  expect(counts.ended).toBe(WAITERS)
}, 60_000)

function residentMb(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]
  return Number(kb) / 1_024
}
