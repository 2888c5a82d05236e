import { expect, onTestFinished, test } from 'vitest'
import { createTestApi, type TestApi, type TestApiOptions, WORKER } from '../../../test/support/api.ts'
import { readSse } from '../../../test/support/sse.ts'
import { EventObject, RunEventList } from '../../contract/event.ts'

const RESULT = { result: { ref: 'inline', hash: 'f'.repeat(64), text: '{}' } }

async function listening(options: TestApiOptions = {}): Promise<TestApi & { url: string }> {
  const api = await createTestApi({ ...options, config: { events: { pollMs: 10 }, ...options.config } })
  return { ...api, url: await api.app.listen({ port: 0, host: '127.0.0.1' }) }
}

test('a page has the events in order, each with every name', async () => {
  const { create, claim, settle, get } = await createTestApi()
  const { run_id } = await create()
  await settle(await claim(), { kind: 'fail', error: { class: 'Boom', message: 'it broke', stack: null } })
  const response = await get(`/runs/${run_id}/events`)
  const { data, next_cursor } = RunEventList.parse(response.json())
  expect(data.map(({ seq, type, status }) => [seq, type, status])).toEqual([
    [1, 'created', 'PENDING'],
    [2, 'started', 'RUNNING'],
    [3, 'failed', 'FAILED'],
  ])
  expect(data[0]).toMatchObject({ run_id, attempt: null, worker_id: null, message: null, data: null })
  expect(data[2]).toMatchObject({ attempt: 1, worker_id: WORKER, message: 'it broke', data: { error_class: 'Boom' } })
  expect(next_cursor).toBeNull()
  expect(response.headers.vary).toBe('Accept')
})

test('pages go on behind the last number', async () => {
  const { create, claim, settle, get } = await createTestApi()
  const { run_id } = await create()
  await settle(await claim(), RESULT)
  const seen: number[] = []
  let path = `/runs/${run_id}/events?limit=2`
  while (path !== '') {
    const { data, next_cursor } = RunEventList.parse((await get(path)).json())
    seen.push(...data.map(({ seq }) => seq))
    path = next_cursor === null ? '' : `/runs/${run_id}/events?limit=2&after=${next_cursor}`
  }
  expect(seen).toEqual([1, 2, 3])
})

test('values of sensitive names are hidden in the data of an event, in pages and streams', async () => {
  const { create, db, get, url } = await listening()
  const { run_id } = await create()
  await db.query(
    `INSERT INTO run_events (run_id, seq, type, at, data, status) VALUES ($1, 2, 'by hand', clock(), '{"token": "canary"}', NULL)`,
    [run_id],
  )
  const { data } = (await get(`/runs/${run_id}/events`)).json()
  expect(data[1].data).toEqual({ token: '[redacted]' })
  const reader = await readSse(`${url}/runs/${run_id}/events`)
  expect((await reader.has(2))[1]!.data.data).toEqual({ token: '[redacted]' })
  reader.close()
})

test('a run that is not there has no events, neither as a page nor as a stream', async () => {
  const { get } = await createTestApi()
  for (const accept of ['application/json', 'text/event-stream']) {
    const response = await get('/runs/01890a0b-0c0d-7000-8000-000000000000/events', { accept })
    expect(response.statusCode).toBe(404)
    expect(response.json().code).toBe('run-not-found')
  }
})

test.each([
  ['?after=x', {}, 'invalid-query'],
  ['?limit=1001', {}, 'invalid-query'],
  ['?aftr=1', {}, 'invalid-query'],
  ['', { accept: 'text/event-stream', 'last-event-id': 'x' }, 'invalid-header'],
])('%s with %o is refused as %s', async (query, headers, code) => {
  const { create, get } = await createTestApi()
  const { run_id } = await create()
  const response = await get(`/runs/${run_id}/events${query}`, headers)
  expect(response.statusCode).toBe(400)
  expect(response.json().code).toBe(code)
})

test('a stream begins with what has happened, goes on as it happens, and ends with the run', async () => {
  const { create, claim, settle, url } = await listening()
  const { run_id } = await create()
  const reader = await readSse(`${url}/runs/${run_id}/events`)
  expect(reader.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(reader.headers.get('x-request-id')).toBeTruthy()
  await reader.has(1)
  const lease = await claim()
  await reader.has(2)
  await settle(lease, RESULT)
  await reader.ends()
  expect(reader.messages.map(({ id, event, data }) => [id, event, EventObject.parse(data).type])).toEqual([
    ['1', 'message', 'created'],
    ['2', 'message', 'started'],
    ['3', 'message', 'succeeded'],
  ])
})

test('a client that comes back gets what it has not seen, and 204 when there is nothing left to see', async () => {
  const { create, claim, settle, url } = await listening()
  const { run_id } = await create()
  await settle(await claim(), RESULT)
  const reader = await readSse(`${url}/runs/${run_id}/events`, { 'last-event-id': '2' })
  await reader.ends()
  expect(reader.messages.map(({ id }) => id)).toEqual(['3'])
  const again = await readSse(`${url}/runs/${run_id}/events`, { 'last-event-id': '3' })
  expect(again.status).toBe(204)
})

test('an event that is handed out before the one before it waits for it', async () => {
  const { create, db, url, claim, settle } = await listening()
  const { run_id } = await create()
  const reader = await readSse(`${url}/runs/${run_id}/events`)
  await reader.has(1)
  const late = await db.pool.connect()
  const insert = `INSERT INTO run_events (run_id, seq, type, at) VALUES ($1, $2, 'by hand', clock())`
  await late.query('BEGIN')
  // The transaction with the lower number writes the later event.
  await late.query('SELECT pg_current_xact_id()')
  await db.query('BEGIN; UPDATE model_runs SET event_seq = 3; COMMIT')
  await db.query(insert, [run_id, 2])
  await late.query(insert, [run_id, 3])
  await late.query('COMMIT')
  late.release()
  await settle(await claim(), RESULT)
  await reader.ends()
  expect(reader.messages.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5'])
})

test('a silent stream has heartbeats', async () => {
  const { create, url } = await listening({ config: { events: { pollMs: 10, heartbeatMs: 20 } } })
  const { run_id } = await create()
  const reader = await readSse(`${url}/runs/${run_id}/events`)
  await reader.has(1)
  await expect.poll(() => reader.comments.length).toBeGreaterThan(1)
  reader.close()
})

test('closing the service ends the streams and does not wait for them', async () => {
  const { app, create, url } = await listening()
  const { run_id } = await create()
  const readers = [await readSse(`${url}/runs/${run_id}/events`), await readSse(`${url}/events`)]
  await readers[0]!.has(1)
  const begun = performance.now()
  await app.close()
  expect(performance.now() - begun).toBeLessThan(2_000)
  for (const reader of readers) await reader.ends()
})

test('a client that goes away frees its place', async () => {
  const { create, url, app } = await listening()
  const { run_id } = await create()
  const reader = await readSse(`${url}/runs/${run_id}/events`)
  await reader.has(1)
  reader.close()
  const connections = () => new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))
  onTestFinished(() => reader.close())
  await expect.poll(connections).toBe(0)
})
