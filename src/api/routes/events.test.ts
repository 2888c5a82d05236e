import { expect, test } from 'vitest'
import { createTestApi, MODEL, type TestApi, type TestApiOptions } from '../../../test/support/api.ts'
import { readSse } from '../../../test/support/sse.ts'
import { FeedPage } from '../../contract/event.ts'
import { decodeCursor, encodeCursor } from '../../run/feed-cursor.ts'

const OTHER = { ...MODEL, name: 'other', queue: 'slow' }

async function listening(options: TestApiOptions = {}): Promise<TestApi & { url: string }> {
  const api = await createTestApi({
    models: [MODEL, OTHER],
    queues: ['default', 'slow'],
    ...options,
    config: { events: { pollMs: 10 }, ...options.config },
  })
  return { ...api, url: await api.app.listen({ port: 0, host: '127.0.0.1' }) }
}

const make = (api: TestApi, model: string, owner = 'default') =>
  api.create({ model, dedupe: 'off' }, { 'holdfast-owner': owner })

test('pages begin now, go on at their cursor, and never end', async () => {
  const api = await createTestApi()
  await api.create()
  const first = FeedPage.parse((await api.get('/events')).json())
  expect(first.data).toEqual([])
  const runs = [await make(api, 'forecast'), await make(api, 'forecast'), await make(api, 'forecast')]
  const seen: string[] = []
  let cursor = first.next_cursor
  for (let pages = 0; pages < 4; pages += 1) {
    const page = FeedPage.parse((await api.get(`/events?limit=1&after=${cursor}`)).json())
    seen.push(...page.data.map(({ run_id }) => run_id))
    cursor = page.next_cursor
  }
  expect(seen.sort()).toEqual(runs.map(({ run_id }) => run_id).sort())
})

test.each([
  ['model=other', ['other']],
  ['queue=slow,nowhere', ['other']],
  ['owner=ana', ['forecast']],
  ['type=created&model=forecast&model=other', ['forecast', 'other']],
  ['type=started', []],
])('?%s lets through what fits', async (query, models) => {
  const api = await createTestApi({ models: [MODEL, OTHER], queues: ['default', 'slow'] })
  const { next_cursor } = (await api.get('/events')).json()
  const made = [await make(api, 'forecast', 'ana'), await make(api, 'other', 'bob')]
  const page = FeedPage.parse((await api.get(`/events?${query}&after=${next_cursor}`)).json())
  const names = page.data.map(({ run_id }) => made.find((run) => run.run_id === run_id)!.model)
  expect(names.sort()).toEqual(models)
})

test.each([
  ['/events?after=nonsense', {}, 'invalid-query'],
  ['/events?modell=x', {}, 'invalid-query'],
  ['/events?limit=0', {}, 'invalid-query'],
  ['/events', { accept: 'text/event-stream', 'last-event-id': '12' }, 'invalid-header'],
])('%s with %o is refused as %s', async (path, headers, code) => {
  const { get } = await createTestApi()
  const response = await get(path, headers)
  expect(response.statusCode).toBe(400)
  expect(response.json().code).toBe(code)
})

test('a stream has what happens from its beginning on, and only what fits', async () => {
  const api = await listening()
  await make(api, 'other')
  const all = await readSse(`${api.url}/events`)
  const some = await readSse(`${api.url}/events?model=other`)
  await expect.poll(() => all.lastId() !== '' && some.lastId() !== '').toBe(true)
  const forecast = await make(api, 'forecast')
  const other = await make(api, 'other')
  expect((await all.has(2)).map(({ data }) => data.run_id)).toEqual([forecast.run_id, other.run_id])
  expect((await some.has(1)).map(({ data }) => data.run_id)).toEqual([other.run_id])
  all.close()
  some.close()
})

test('a client that was away gets everything once, whichever id it comes back with', async () => {
  const api = await listening()
  const first = await readSse(`${api.url}/events`)
  await expect.poll(() => first.lastId()).not.toBe('')
  const ids: string[] = []
  for (let count = 0; count < 5; count += 1) ids.push((await make(api, 'forecast')).run_id)
  await first.has(5)
  const begin = first.messages[0]!.id
  first.close()
  for (let count = 0; count < 5; count += 1) ids.push((await make(api, 'other')).run_id)
  for (const [from, expected] of [
    [begin, ids.slice(1)],
    [first.messages[2]!.id, ids.slice(3)],
    [first.lastId(), ids.slice(5)],
  ] as const) {
    const reader = await readSse(`${api.url}/events`, { 'last-event-id': from })
    expect((await reader.has(expected.length)).map(({ data }) => data.run_id)).toEqual(expected)
    reader.close()
  }
})

test('heartbeats carry the place of a client whose filter lets nothing through', async () => {
  const api = await listening({ config: { events: { pollMs: 10, heartbeatMs: 20 } } })
  const reader = await readSse(`${api.url}/events?type=never`)
  await expect.poll(() => reader.lastId()).not.toBe('')
  const before = decodeCursor(reader.lastId())!
  await make(api, 'forecast')
  await expect.poll(() => decodeCursor(reader.lastId())!.after.xmax).toBeGreaterThan(before.after.xmax)
  expect(reader.messages).toEqual([])
  reader.close()
})

test('a place of another database is told as lost: a page is refused with the place to go on from', async () => {
  const api = await createTestApi()
  const { next_cursor } = (await api.get('/events')).json()
  const { run_id } = await api.create()
  const foreign = encodeCursor({ ...decodeCursor(next_cursor)!, cluster: '0000000000000000' })
  const response = await api.get(`/events?after=${foreign}`)
  expect(response.statusCode).toBe(410)
  const { code, resume_after } = response.json()
  expect(code).toBe('cursor-lost')
  const page = FeedPage.parse((await api.get(`/events?after=${resume_after}`)).json())
  expect(page.data.map((event) => event.run_id)).toContain(run_id)
})

test('a stream from a lost place says so and goes on from before it', async () => {
  const api = await listening()
  const { run_id } = await make(api, 'forecast')
  const { next_cursor } = (await api.get('/events')).json()
  const foreign = encodeCursor({ ...decodeCursor(next_cursor)!, cluster: '0000000000000000' })
  const reader = await readSse(`${api.url}/events`, { 'last-event-id': foreign })
  const [reset, old] = await reader.has(2)
  expect(reset).toMatchObject({ event: 'reset', data: { code: 'cursor-lost' } })
  expect(old).toMatchObject({ event: 'message', data: { run_id } })
  reader.close()
})
