/** Batches over HTTP: begun, listed, read, waited for and followed. */

import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createTestApi, type TestApi, type TestApiOptions } from '../../../test/support/api.ts'
import { readSse } from '../../../test/support/sse.ts'
import { revokedToken, TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'
import { until } from '../../../test/support/until.ts'
import { BatchList, BatchObject, BatchProgress } from '../../contract/batch-progress.ts'

const RESULT = { result: { ref: 'inline', hash: 'f'.repeat(64), text: '{}' } }
const FAILED = { kind: 'fail', error: { class: 'Boom', message: 'it broke', stack: null } } as const

async function post(api: TestApi, body: object, headers: Record<string, string> = {}) {
  const all = { 'content-type': 'application/json', ...headers }
  const response = await api.app.inject({
    method: 'POST',
    url: '/batches',
    headers: all,
    payload: JSON.stringify(body),
  })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}

async function listening(options: TestApiOptions = {}): Promise<TestApi & { url: string }> {
  const events = { pollMs: 10, batchPollMs: 10 }
  const api = await createTestApi({ ...options, config: { events, ...options.config } })
  return { ...api, url: await api.app.listen({ port: 0, host: '127.0.0.1' }) }
}

const inBatch = (api: TestApi, batch_id: string) => api.create({ batch_id, dedupe: 'off' })

describe('beginning a batch', () => {
  test('answers it, empty and not finished, with links to what belongs to it', async () => {
    const api = await createTestApi()
    const { status, headers, body } = await post(api, { title: 'scans of May' }, { 'holdfast-owner': 'ana' })
    expect(status).toBe(201)
    const batch = BatchObject.parse(body)
    expect(batch).toMatchObject({ owner: 'ana', title: 'scans of May', total: 0, finished: false })
    expect(headers.location).toBe(`/batches/${batch.batch_id}`)
    expect(batch.links.runs).toBe(`/runs?batch_id=${batch.batch_id}`)
    for (const link of [batch.links.runs, batch.links.events]) expect((await api.get(link)).statusCode).toBe(200)
  })

  test('twice with one id is the same batch; of another owner it is taken', async () => {
    const api = await createTestApi()
    const batch_id = randomUUID()
    const first = await post(api, { batch_id: batch_id.toUpperCase(), title: 'one' })
    const again = await post(api, { batch_id, title: 'two' })
    expect([again.status, again.body]).toEqual([201, first.body])
    const other = await post(api, { batch_id }, { 'holdfast-owner': 'ana' })
    expect([other.status, other.body.code]).toEqual([409, 'batch-taken'])
  })

  test.each([{ title: '' }, { batch_id: 'x' }, { name: 'x' }, { title: 'a\u0000b' }])('%j is refused', async (body) => {
    const api = await createTestApi()
    expect((await post(api, body)).body.code).toMatch(/^invalid-(body|json)$/)
  })
})

describe('the list', () => {
  test('has one page after another, newest first, and can be narrowed to an owner', async () => {
    const api = await createTestApi()
    const ids: string[] = []
    for (const owner of ['ana', 'bob', 'ana'])
      ids.unshift((await post(api, {}, { 'holdfast-owner': owner })).body.batch_id)
    const first = BatchList.parse((await api.get('/batches?limit=2')).json())
    const second = BatchList.parse((await api.get(`/batches?limit=2&cursor=${first.next_cursor}`)).json())
    expect([...first.data, ...second.data].map(({ batch_id }) => batch_id)).toEqual(ids)
    expect(second.next_cursor).toBeNull()
    const anas = BatchList.parse((await api.get('/batches?owner=ana')).json())
    expect(anas.data.map(({ batch_id }) => batch_id)).toEqual([ids[0], ids[2]])
    expect((await api.get('/batches?cursor=nonsense')).json().code).toBe('invalid-query')
  })
})

describe('a batch', () => {
  test('counts its runs, also when nobody began it, and has a new ETag when they change', async () => {
    const api = await createTestApi()
    const id = randomUUID()
    await inBatch(api, id)
    await inBatch(api, id)
    await api.settle(await api.claim(), FAILED)
    const response = await api.get(`/batches/${id}`)
    expect(BatchObject.parse(response.json())).toMatchObject({ total: 2, waiting: 1, failed: 1, finished: false })
    const etag = response.headers.etag as string
    expect((await api.get(`/batches/${id}`, { 'if-none-match': etag })).statusCode).toBe(304)
    await api.settle(await api.claim(), RESULT)
    const after = await api.get(`/batches/${id}`, { 'if-none-match': etag })
    expect(after.json()).toMatchObject({ total: 2, done: 1, failed: 1, finished: true })
  })

  test('counts the retry of a run instead of the run', async () => {
    const api = await createTestApi()
    const id = randomUUID()
    const { run_id } = await inBatch(api, id)
    await api.settle(await api.claim(), FAILED)
    const retried = await api.app.inject({ method: 'POST', url: `/runs/${run_id}/retry` })
    expect(retried.json().batch_id).toBe(id)
    expect((await api.get(`/batches/${id}`)).json()).toMatchObject({ total: 1, waiting: 1, failed: 0 })
  })

  test('that is not there, or another owner’s, is not found', async () => {
    const api = await createTestApi({ config: { access: TOKENS_ONLY } })
    const ana = await testToken(api.store, 'submitter', { owner: 'ana' })
    const bob = await testToken(api.store, 'submitter', { owner: 'bob' })
    const { batch_id } = (await post(api, {}, ana.headers)).body
    for (const path of [
      `/batches/${batch_id}`,
      `/batches/${batch_id}/events`,
      '/batches/x',
      `/batches/${randomUUID()}`,
    ]) {
      expect((await api.get(path, bob.headers)).json()).toMatchObject({ status: 404, code: 'batch-not-found' })
    }
    expect((await api.get('/batches', bob.headers)).json().data).toEqual([])
    expect((await api.get('/batches?owner=ana', bob.headers)).json().data).toEqual([])
    expect((await api.get('/batches?owner=ana', ana.headers)).json().data).toHaveLength(1)
  })

  test('is waited for until it is finished', async () => {
    const api = await listening()
    const id = randomUUID()
    await inBatch(api, id)
    const asked = fetch(`${api.url}/batches/${id}`, { headers: { prefer: 'wait=30' } })
    await api.settle(await api.claim(), RESULT)
    const answer = await asked
    expect(answer.headers.get('preference-applied')).toBe('wait=30')
    expect(await answer.json()).toMatchObject({ finished: true, done: 1 })
  })

  test('is waited for no longer than asked, and not at all once it is finished', async () => {
    const api = await listening()
    const id = randomUUID()
    await inBatch(api, id)
    const answer = await fetch(`${api.url}/batches/${id}`, { headers: { prefer: 'wait=0' } })
    expect(await answer.json()).toMatchObject({ finished: false })
    await api.settle(await api.claim(), RESULT)
    expect(await (await fetch(`${api.url}/batches/${id}`, { headers: { prefer: 'wait=60' } })).json()).toMatchObject({
      finished: true,
    })
  })

  test('with an ETag is waited for until it is another', async () => {
    const api = await listening()
    const id = randomUUID()
    await inBatch(api, id)
    const etag = (await api.get(`/batches/${id}`)).headers.etag as string
    const headers = { prefer: 'wait=30', 'if-none-match': etag }
    const asked = fetch(`${api.url}/batches/${id}`, { headers })
    await inBatch(api, id)
    expect(await (await asked).json()).toMatchObject({ total: 2, finished: false })
  })
})

describe('the stream of a batch', () => {
  const progress = (messages: { event: string; data: unknown }[]) =>
    messages.map(({ event, data }) => {
      const { total, waiting, running, done } = BatchProgress.parse(data)
      return `${event} ${waiting}+${running}+${done}/${total}`
    })

  test('begins with the counts, tells each change, and ends when nothing is left to do', async () => {
    const api = await listening()
    const id = randomUUID()
    await inBatch(api, id)
    const reader = await readSse(`${api.url}/batches/${id}/events`)
    await reader.has(1)
    const lease = await api.claim()
    await reader.has(2)
    await api.settle(lease, RESULT)
    await reader.ends()
    expect(progress(reader.messages)).toEqual([
      'progress 1+0+0/1',
      'progress 0+1+0/1',
      'progress 0+0+1/1',
      'completed 0+0+1/1',
    ])
  })

  test('tells whoever comes back where the batch is, and 204 behind the end', async () => {
    const api = await listening()
    const id = randomUUID()
    await inBatch(api, id)
    const reader = await readSse(`${api.url}/batches/${id}/events`)
    await reader.has(1)
    reader.close()
    await api.settle(await api.claim(), RESULT)
    const back = await readSse(`${api.url}/batches/${id}/events`, { 'last-event-id': reader.lastId() })
    await back.ends()
    expect(progress(back.messages)).toEqual(['progress 0+0+1/1', 'completed 0+0+1/1'])
    const done = await readSse(`${api.url}/batches/${id}/events`, { 'last-event-id': back.lastId() })
    expect(done.status).toBe(204)
    await inBatch(api, id)
    const more = await readSse(`${api.url}/batches/${id}/events`, { 'last-event-id': back.lastId() })
    expect(progress(await more.has(1))).toEqual(['progress 1+0+1/2'])
    more.close()
  })

  test('of an empty batch waits for the first run', async () => {
    const api = await listening()
    const { batch_id } = (await post(api, {})).body
    const reader = await readSse(`${api.url}/batches/${batch_id}/events`)
    expect(progress(await reader.has(1))).toEqual(['progress 0+0+0/0'])
    await inBatch(api, batch_id)
    expect(progress(await reader.has(2)).at(-1)).toBe('progress 1+0+0/1')
    reader.close()
  })

  test('ends when the token of its reader is revoked', async () => {
    const api = await listening({ config: { access: TOKENS_ONLY, events: { batchPollMs: 10, heartbeatMs: 20 } } })
    const ana = await testToken(api.store, 'submitter', { owner: 'ana' })
    const { batch_id } = (await post(api, {}, ana.headers)).body
    const reader = await readSse(`${api.url}/batches/${batch_id}/events`, ana.headers)
    await reader.has(1)
    expect(reader.isEnded()).toBe(false)
    await api.store.tokens.revoke(ana.id, { tokenId: null, owner: 'test', requestId: null })
    await reader.ends()
    const revoked = await revokedToken(api.store, 'viewer')
    expect((await readSse(`${api.url}/batches/${batch_id}/events`, revoked.headers)).status).toBe(401)
  })

  test('is closed with the service', async () => {
    const api = await listening()
    const { batch_id } = (await post(api, {})).body
    const reader = await readSse(`${api.url}/batches/${batch_id}/events`)
    await reader.has(1)
    await api.app.close()
    await until(() => reader.isEnded(), { what: 'the stream has ended' })
  })
})
