/** Bulk operations over HTTP: counted, begun, followed, read run by run, stopped. */

import { describe, expect, test } from 'vitest'
import { createTestApi, type TestApi } from '../../../test/support/api.ts'
import { until } from '../../../test/support/until.ts'
import { BulkCount, type BulkItemObject, BulkItemsAnswer, BulkListAnswer, BulkObject } from '../../contract/bulk.ts'

async function post(api: TestApi, url: string, body?: object, headers: Record<string, string> = {}) {
  const response = await api.app.inject({
    method: 'POST',
    url,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { payload: JSON.stringify(body) }),
  })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}

/** An API whose background work runs. */
async function working(): Promise<TestApi> {
  const api = await createTestApi()
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  return api
}

async function doneOf(api: TestApi, id: string): Promise<BulkObject> {
  return until(
    async () => {
      const operation = BulkObject.parse((await api.get(`/bulk/${id}`)).json())
      return operation.state !== 'RUNNING' && operation
    },
    { what: 'the operation has ended', everyMs: 5 },
  )
}

async function itemsOf(api: TestApi, id: string, query = ''): Promise<BulkItemObject[]> {
  return BulkItemsAnswer.parse((await api.get(`/bulk/${id}/items?limit=200${query}`)).json()).data
}

async function several(api: TestApi, count: number, body: object = {}): Promise<string[]> {
  const runs: string[] = []
  for (let no = 0; no < count; no += 1) runs.push((await api.create({ dedupe: 'off', ...body })).run_id)
  return runs
}

async function failed(api: TestApi, count: number, body: object = {}): Promise<string[]> {
  const ids = await several(api, count, body)
  for (const _ of ids) {
    await api.settle(await api.claim(), { kind: 'fail', error: { class: 'Error', message: 'it broke', stack: null } })
  }
  return ids
}

const nothing = {
  cancelled: 0,
  cancel_requested: 0,
  already_finished: 0,
  retried: 0,
  already_retrying: 0,
  refused: 0,
  not_found: 0,
}

describe('a bulk cancel', () => {
  test('ends what waits, asks what runs, and leaves the rest', async () => {
    const api = await working()
    const running = await several(api, 1, { tags: ['x'] })
    await api.claim()
    const waiting = await several(api, 3, { tags: ['x'] })
    const other = await several(api, 1)
    const began = await post(api, '/bulk', { action: 'cancel', filter: { tag: 'x' } })
    expect(began.status).toBe(202)
    const { operation_id: id } = BulkObject.parse(began.body)
    expect(began.headers.location).toBe(`/bulk/${id}`)
    expect(await doneOf(api, id)).toMatchObject({
      state: 'DONE',
      processed: 4,
      counts: { ...nothing, cancelled: 3, cancel_requested: 1 },
      filter: { tag: ['x'] },
      error: null,
    })
    expect(api.hints).toContainEqual({ topic: 'worker:worker-1', runId: running[0] })
    expect((await itemsOf(api, id)).map(({ run_id }) => run_id)).toEqual([...running, ...waiting].toSorted())
    expect((await itemsOf(api, id, '&outcome=cancelled')).map(({ run_id }) => run_id)).toEqual(waiting.toSorted())
    expect((await api.get(`/runs/${other[0]}`)).json().status).toBe('PENDING')
  })
})

describe('a bulk retry', () => {
  test('redrives the failed runs of a model, once each, and never the runs it makes', async () => {
    const api = await working()
    const old = await failed(api, 3)
    await several(api, 1)
    const { body } = await post(api, '/bulk', { action: 'retry', filter: { model: 'forecast', error_class: 'Error' } })
    expect(await doneOf(api, body.operation_id)).toMatchObject({ state: 'DONE', counts: { ...nothing, retried: 3 } })
    const items = await itemsOf(api, body.operation_id)
    for (const { run_id, new_run_id } of items) {
      expect((await api.get(`/runs/${new_run_id}`)).json()).toMatchObject({ retry_of: run_id, status: 'PENDING' })
    }
    expect(items.map(({ run_id }) => run_id)).toEqual(old.toSorted())
    const again = await post(api, '/bulk', { action: 'retry', filter: { model: 'forecast' } })
    const second = await doneOf(api, again.body.operation_id)
    expect(second.counts).toEqual({ ...nothing, already_retrying: 3 })
    expect(await api.stored()).toMatchObject({ runs: 7 })
  })

  test('says of each run why it was refused', async () => {
    const api = await working()
    await failed(api, 2)
    await api.db.query(
      `UPDATE models SET definition = jsonb_set(definition, '{parametersSchema,required}', '["note"]')`,
    )
    const fresh = await createTestApi({ storeUrl: async () => api.db.url })
    await fresh.app.listen({ host: '127.0.0.1', port: 0 })
    await api.app.close()
    const { body } = await post(fresh, '/bulk', { action: 'retry', filter: { model: 'forecast' } })
    expect((await doneOf(fresh, body.operation_id)).counts).toEqual({ ...nothing, refused: 2 })
    const [item] = await itemsOf(fresh, body.operation_id)
    expect(item!.detail).toContain('invalid-parameters')
  })
})

describe('a dry run', () => {
  test('counts what would be touched and begins nothing', async () => {
    const api = await createTestApi()
    await failed(api, 2)
    await several(api, 3)
    const count = async (action: string, filter: object) =>
      BulkCount.parse((await post(api, '/bulk', { action, filter, dry_run: true })).body)
    expect(await count('cancel', { model: 'forecast' })).toEqual({ count: 3, capped: false })
    expect(await count('retry', { model: 'forecast' })).toEqual({ count: 2, capped: false })
    expect(await count('retry', { status: ['SUCCEEDED'] })).toEqual({ count: 0, capped: false })
    expect(BulkListAnswer.parse((await api.get('/bulk')).json()).data).toEqual([])
  })
})

describe('the filter', () => {
  test.each([
    [{}, '/filter'],
    [{ status: null }, '/filter'],
    [{ status: 'FAILED' }, '/filter/status'],
    [{ colour: 'red' }, '/filter/colour'],
    [{ status: 'GONE' }, '/filter/status'],
  ])('%j of a cancel is refused at %s', async (filter, pointer) => {
    const api = await createTestApi()
    for (const dry_run of [true, false]) {
      const { status, body } = await post(api, '/bulk', { action: 'cancel', filter, dry_run })
      expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid-body', pointer])
    }
  })

  test('takes no run that was made after the request', async () => {
    const api = await createTestApi()
    const before = await several(api, 1)
    const { body } = await post(api, '/bulk', { action: 'cancel', filter: { model: 'forecast' } })
    const after = await several(api, 1)
    await api.app.listen({ host: '127.0.0.1', port: 0 })
    expect((await doneOf(api, body.operation_id)).processed).toBe(1)
    expect((await itemsOf(api, body.operation_id)).map(({ run_id }) => run_id)).toEqual(before)
    expect((await api.get(`/runs/${after[0]}`)).json().status).toBe('PENDING')
  })
})

describe('an operation', () => {
  const filter = { model: 'forecast' }

  test('is stopped at once while nobody works on it, and asking again changes nothing', async () => {
    const api = await createTestApi()
    const { body } = await post(api, '/bulk', { action: 'cancel', filter })
    for (let time = 0; time < 2; time += 1) {
      const stopped = await post(api, `/bulk/${body.operation_id}/cancel`)
      expect([stopped.status, stopped.body.state]).toEqual([200, 'CANCELLED'])
    }
    expect(await api.store.bulk.take({ leaseMs: 1 })).toBeNull()
  })

  test('is stopped after the page that somebody works on', async () => {
    const api = await createTestApi()
    const [run] = await several(api, 1)
    const { body } = await post(api, '/bulk', { action: 'cancel', filter })
    const id = body.operation_id
    const { epoch } = (await api.store.bulk.take({ leaseMs: 60_000 }))!
    await api.store.bulk.plan({ id, epoch, runIds: [run!], cursor: 'more' })
    const asked = await post(api, `/bulk/${id}/cancel`)
    expect([asked.status, asked.body.state]).toEqual([202, 'RUNNING'])
    expect(asked.body.cancel_requested_at).not.toBeNull()
    const items = [{ runId: run!, outcome: 'cancelled', detail: null, newRunId: null }] as const
    expect(await api.store.bulk.record({ id, epoch, items: [...items] })).toBe('CANCELLED')
    expect((await api.get(`/bulk/${id}`)).json()).toMatchObject({ state: 'CANCELLED', processed: 1 })
  })

  test('with a key is begun once; the key is good for no other filter', async () => {
    const api = await createTestApi()
    const headers = { 'idempotency-key': 'once' }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post(api, '/bulk', { action: 'cancel', filter }, headers)),
    )
    expect(new Set(answers.map(({ body }) => body.operation_id)).size).toBe(1)
    expect(answers.filter((answer) => answer.headers['idempotent-replayed'] === 'true')).toHaveLength(4)
    const other = await post(api, '/bulk', { action: 'retry', filter }, headers)
    expect([other.status, other.body.code]).toEqual([409, 'idempotency-key-reused'])
  })

  test('is listed newest first in pages, and so are its items', async () => {
    const api = await working()
    await several(api, 3)
    const ids: string[] = []
    for (let no = 0; no < 3; no += 1)
      ids.push((await post(api, '/bulk', { action: 'cancel', filter })).body.operation_id)
    const first = BulkListAnswer.parse((await api.get('/bulk?limit=2')).json())
    const second = BulkListAnswer.parse((await api.get(`/bulk?limit=2&cursor=${first.next_cursor}`)).json())
    expect([...first.data, ...second.data].map(({ operation_id }) => operation_id)).toEqual(ids.toReversed())
    expect(second.next_cursor).toBeNull()
    await doneOf(api, ids[0]!)
    const page = BulkItemsAnswer.parse((await api.get(`/bulk/${ids[0]}/items?limit=2`)).json())
    const rest = BulkItemsAnswer.parse(
      (await api.get(`/bulk/${ids[0]}/items?limit=2&cursor=${page.next_cursor}`)).json(),
    )
    expect([page.data.length, rest.data.length, rest.next_cursor]).toEqual([2, 1, null])
    expect((await api.get('/bulk?cursor=nonsense')).json().code).toBe('invalid-query')
  })

  test('is in the audit from the moment it exists', async () => {
    const api = await createTestApi()
    const { body } = await post(api, '/bulk', { action: 'cancel', filter }, { 'holdfast-owner': 'ana' })
    const { events } = await api.store.audit.list({ limit: 10, cursor: null })
    expect(events).toMatchObject([{ action: 'bulk.cancel', target: body.operation_id, actorOwner: 'ana' }])
  })

  test('of another owner is not there', async () => {
    const api = await createTestApi()
    const actor = { tokenId: null, owner: 'ana', requestId: null }
    const id = '018f0000-0000-7000-8000-000000000000'
    await api.store.bulk.create({ id, action: 'cancel', filter, sees: 'ana', createdBy: 'ana', key: null }, actor)
    expect(await api.store.bulk.read(id, 'bob')).toBeNull()
    expect(await api.store.bulk.requestCancel(id, 'bob')).toBeNull()
    expect((await api.store.bulk.list('bob', { limit: 10, cursor: null })).operations).toEqual([])
    expect((await api.store.bulk.list('ana', { limit: 10, cursor: null })).operations).toHaveLength(1)
    expect((await api.store.bulk.read(id, 'ana'))!.state).toBe('RUNNING')
    for (const path of ['/bulk/nothing', '/bulk/018f0000-0000-7000-8000-000000000001/items']) {
      expect((await api.get(path)).json()).toMatchObject({ status: 404, code: 'bulk-not-found' })
    }
  })
})
