/** What attempts printed, over HTTP: pages of it, and streams that follow it to the end of the run. */

import { expect, test } from 'vitest'
import { createTestApi, type TestApi } from '../../../test/support/api.ts'
import { readSse } from '../../../test/support/sse.ts'
import { LogList, type LogObject } from '../../contract/log.ts'
import type { LogPiece } from '../../store/ports/attempt-logs.ts'
import type { Lease } from '../../store/store.ts'

const out = (text: string): LogPiece => ({ stream: 'stdout', text })
const RETRY = { kind: 'retry', error: { class: 'Boom', message: 'x', stack: null }, delaySeconds: 0 } as const
const DONE = { kind: 'succeed', result: { ref: 'inline', hash: 'f'.repeat(64), text: '1' } } as const

async function setUp() {
  const api = await createTestApi()
  const { run_id: runId } = await api.create()
  const lease = await api.claim()
  const print = (fence: Lease, ...texts: string[]) => api.store.attemptLogs.append([{ fence, pieces: texts.map(out) }])
  const page = async (query = '') => LogList.parse((await api.get(`/runs/${runId}/logs${query}`)).json())
  return { api, runId, lease, print, page }
}

async function follow(api: TestApi, path: string, headers: Record<string, string> = {}) {
  const reader = await readSse(`${await api.app.listen({ port: 0, host: '127.0.0.1' })}${path}`, headers)
  const texts = () => reader.messages.map(({ data }) => (data as unknown as LogObject).text)
  return { reader, texts }
}

test('pages go on from the number of the last piece, of one attempt or of all', async () => {
  const { api, lease, print, page } = await setUp()
  await print(lease, 'a', 'b')
  await api.settle(lease, RETRY)
  await print(await api.claim(), 'c')
  const first = await page('?limit=2')
  expect(first.data).toMatchObject([
    { no: 1, attempt: 1, stream: 'stdout', text: 'a' },
    { no: 2, attempt: 1, text: 'b' },
  ])
  expect(first.next_cursor).toBe('2')
  expect(await page(`?after=${first.next_cursor}`)).toMatchObject({ data: [{ no: 3, text: 'c' }], next_cursor: null })
  expect((await page('?attempt=2')).data.map(({ text }) => text)).toEqual(['c'])
  expect((await page('?attempt=3')).data).toEqual([])
})

test.each(['after=x', 'attempt=0', 'limit=0', 'limit=1001', 'cursor=1'])('refuses %s', async (query) => {
  const { api, runId } = await setUp()
  expect((await api.get(`/runs/${runId}/logs?${query}`)).statusCode).toBe(400)
})

test('an attempt says that it printed something, and what it used', async () => {
  const { api, runId, lease, print } = await setUp()
  const attempt = async () => (await api.get(`/runs/${runId}`)).json().attempts[0]
  expect(await attempt()).toMatchObject({ log_ref: null, cpu_seconds: null, peak_memory_bytes: null })
  await print(lease, 'a')
  await api.store.attempts.recordUsage(lease, { cpuSeconds: 2.5, peakMemoryBytes: 4096 })
  expect(await attempt()).toMatchObject({ log_ref: 'inline', cpu_seconds: 2.5, peak_memory_bytes: 4096 })
})

test('a stream brings what is there, then what comes, and ends when the run has ended and all is sent', async () => {
  const { api, runId, lease, print } = await setUp()
  await print(lease, 'before')
  const { reader, texts } = await follow(api, `/runs/${runId}/logs`)
  await reader.has(1)
  await print(lease, 'live')
  await reader.has(2)
  await print(lease, 'last')
  await api.settle(lease, DONE)
  await reader.ends()
  expect(texts()).toEqual(['before', 'live', 'last'])
  expect(reader.messages.map(({ id }) => id)).toEqual(['1', '2', '3'])
})

test('a stream goes on from the last id over several attempts', async () => {
  const { api, runId, lease, print } = await setUp()
  await print(lease, 'a', 'b')
  const { reader, texts } = await follow(api, `/runs/${runId}/logs`, { 'last-event-id': '1' })
  await reader.has(1)
  await api.settle(lease, RETRY)
  const second = await api.claim()
  await print(second, 'c')
  await api.settle(second, DONE)
  await reader.ends()
  expect(texts()).toEqual(['b', 'c'])
})

test('of one attempt alone, when asked', async () => {
  const { api, runId, lease, print } = await setUp()
  await print(lease, 'a')
  await api.settle(lease, RETRY)
  const second = await api.claim()
  await print(second, 'b')
  await api.settle(second, DONE)
  const { reader, texts } = await follow(api, `/runs/${runId}/logs?attempt=2`)
  await reader.ends()
  expect(texts()).toEqual(['b'])
})

test('a long log comes whole and in order', async () => {
  const { api, runId, lease, print } = await setUp()
  const lines = Array.from({ length: 450 }, (_, no) => `line ${no}`)
  await print(lease, ...lines)
  await api.settle(lease, DONE)
  const { reader, texts } = await follow(api, `/runs/${runId}/logs`)
  await reader.ends()
  expect(texts()).toEqual(lines)
})

test('behind the last piece of an ended run there is nothing to stream', async () => {
  const { api, runId, lease, print } = await setUp()
  await print(lease, 'a')
  await api.settle(lease, DONE)
  const accept = 'text/event-stream'
  const answer = await api.get(`/runs/${runId}/logs`, { accept, 'last-event-id': '1' })
  expect(answer.statusCode).toBe(204)
  expect((await api.get(`/runs/${runId}/logs`, { accept, 'last-event-id': 'x' })).statusCode).toBe(400)
})
