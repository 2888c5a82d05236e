/** Retry: a finished run is repeated as a new one, once however often it is asked for at a time. */

import { describe, expect, test } from 'vitest'
import { createTestApi, MODEL, type TestApi } from '../../../test/support/api.ts'
import { SubmitAnswer } from '../../contract/run.ts'
import { REDACTED } from '../../run/redaction.ts'

async function retry(
  api: TestApi,
  id: string,
  { body, headers = {} }: { body?: object; headers?: Record<string, string> } = {},
) {
  const response = await api.app.inject({
    method: 'POST',
    url: `/runs/${id}/retry`,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { payload: JSON.stringify(body) }),
  })
  return { status: response.statusCode, response, run: response.json() }
}

/** A run that has ended. */
async function ended(api: TestApi, status: 'SUCCEEDED' | 'FAILED' | 'CANCELLED' = 'FAILED', body: object = {}) {
  const run = await api.create(body, { 'holdfast-owner': 'ana' })
  await end(api, run.run_id, status)
  return run
}

async function end(api: TestApi, id: string, status: 'SUCCEEDED' | 'FAILED' | 'CANCELLED'): Promise<void> {
  if (status === 'CANCELLED') return void (await api.store.cancel(id))
  const lease = await api.claim()
  expect(lease.runId).toBe(id)
  const result = { ref: 'inline', hash: 'f'.repeat(64), text: '{}' }
  const error = { class: 'Error', message: 'it broke', stack: null }
  await api.settle(lease, status === 'SUCCEEDED' ? { kind: 'succeed', result } : { kind: 'fail', error })
}

describe('retrying', () => {
  test('a run lists its retries, newest first, and not those of an equal run', async () => {
    const api = await createTestApi()
    const headers = { 'holdfast-owner': 'ana' }
    const { run_id: id } = await ended(api)
    const other = await ended(api)
    const listed = async () => (await api.get(`/runs/${id}/retries`, headers)).json()
    expect(await listed()).toEqual({ data: [], next_cursor: null })
    const first = (await retry(api, id, { headers })).run
    await end(api, first.run_id, 'FAILED')
    const second = (await retry(api, id, { headers })).run
    await retry(api, other.run_id, { headers })
    const expected = [
      { run_id: second.run_id, status: 'PENDING', created_at: second.created_at },
      { run_id: first.run_id, status: 'FAILED', created_at: first.created_at },
    ]
    expect(await listed()).toEqual({ data: expected, next_cursor: null })
  })

  test.each(['SUCCEEDED', 'FAILED', 'CANCELLED'] as const)('a %s run makes a new one that names it', async (status) => {
    const api = await createTestApi()
    const old = await ended(api, status, { priority: 7, tags: ['a', 'b'], title: 'a title' })
    const { status: code, response, run } = await retry(api, old.run_id)
    expect(code).toBe(201)
    expect(SubmitAnswer.parse(run)).toMatchObject({
      retry_of: old.run_id,
      status: 'PENDING',
      idempotent_hit: false,
      owner: 'ana',
      ...{ model: 'forecast', model_version: '1', parameters: old.parameters, payload_hash: old.payload_hash },
      ...{ queue: 'default', priority: 7, tags: ['a', 'b'], title: 'a title' },
    })
    expect(response.headers.location).toBe(`/runs/${run.run_id}`)
    expect(api.hints.at(-1)).toEqual({ topic: 'queue:default', runId: run.run_id })
    expect((await api.get(`/runs/${old.run_id}`)).json().status).toBe(status)
  })

  test('keeps the true values of what is hidden', async () => {
    const api = await createTestApi()
    const old = await ended(api, 'FAILED', { parameters: { scenario: 's', api_key: 'sesame' } })
    const { run } = await retry(api, old.run_id)
    expect(run.parameters.api_key).toBe(REDACTED)
    const rows = await api.db.query('SELECT parameters FROM model_runs ORDER BY created_at')
    expect(rows.map(({ parameters }) => parameters)).toEqual(
      Array(2).fill({ scenario: 's', api_key: 'sesame', months: 24 }),
    )
  })

  test('again while the retry is active gets that one, and after its end a further one', async () => {
    const api = await createTestApi()
    const old = await ended(api)
    const first = await retry(api, old.run_id)
    const second = await retry(api, old.run_id)
    expect([second.status, second.run.run_id, second.run.idempotent_hit]).toEqual([200, first.run.run_id, true])
    expect(second.response.headers['idempotent-replayed']).toBe('true')
    await end(api, first.run.run_id, 'FAILED')
    const third = await retry(api, old.run_id)
    expect(third.status).toBe(201)
    expect(third.run).toMatchObject({ retry_of: old.run_id })
    expect(third.run.run_id).not.toBe(first.run.run_id)
  })

  test('20 times at once makes one run', async () => {
    const api = await createTestApi()
    const old = await ended(api)
    const answers = await Promise.all(Array.from({ length: 20 }, () => retry(api, old.run_id)))
    expect(new Set(answers.map(({ run }) => run.run_id)).size).toBe(1)
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(19).fill(200), 201])
    expect(await api.stored()).toMatchObject({ runs: 2 })
  })

  test('with a key gets the same retry also after that has ended; the key is good for no other run', async () => {
    const api = await createTestApi()
    const old = await ended(api)
    const other = await ended(api, 'CANCELLED', { dedupe: 'off' })
    const headers = { 'idempotency-key': 'k' }
    const first = await retry(api, old.run_id, { headers })
    await end(api, first.run.run_id, 'CANCELLED')
    const again = await retry(api, old.run_id, { headers })
    expect([again.status, again.run.run_id]).toEqual([200, first.run.run_id])
    const wrong = await retry(api, other.run_id, { headers })
    expect([wrong.status, wrong.run.code]).toEqual([409, 'idempotency-key-reused'])
  })

  test('an unfinished run is refused', async () => {
    const api = await createTestApi()
    const { run_id } = await api.create()
    for (const state of ['PENDING', 'RUNNING']) {
      const { status, run } = await retry(api, run_id)
      expect([status, run.code, run.run_status]).toEqual([409, 'run-not-finished', state])
      if (state === 'PENDING') await api.claim()
    }
  })

  test('from a failed step is refused while there are no steps', async () => {
    const api = await createTestApi()
    const old = await ended(api)
    expect((await retry(api, old.run_id, { body: { from: 'start' } })).status).toBe(201)
    const { status, run } = await retry(api, old.run_id, { body: { from: 'failed_step' } })
    expect([status, run.code]).toEqual([409, 'no-steps'])
    expect((await retry(api, old.run_id, { body: { from: 'end' } })).run.code).toBe('invalid-body')
  })

  test('when the version of the model is gone: says so', async () => {
    const api = await createTestApi()
    const old = await ended(api)
    await api.db.query('DELETE FROM models')
    // What was known of the model is forgotten after a second; another service never knew it.
    const fresh = await createTestApi({ storeUrl: async () => api.db.url })
    const { status, run } = await retry(fresh, old.run_id)
    expect([status, run.code]).toEqual([409, 'model-not-registered'])
    expect(run.detail).toContain('forecast')
  })

  test('takes timeout and attempts from the model as it is today, and the input from the old run', async () => {
    const api = await createTestApi()
    const old = await ended(api)
    const properties = { ...(MODEL.parametersSchema.properties as object), depth: { type: 'integer', default: 3 } }
    const changed = { ...MODEL, expectedSeconds: 200, parametersSchema: { ...MODEL.parametersSchema, properties } }
    await api.db.query('UPDATE models SET definition = $1', [JSON.stringify(changed)])
    const fresh = await createTestApi({ storeUrl: async () => api.db.url })
    const { run } = await retry(fresh, old.run_id)
    expect([run.parameters, run.payload_hash]).toEqual([old.parameters, old.payload_hash])
    const [row] = await api.db.query('SELECT timeout_seconds FROM model_runs WHERE id = $1', [run.run_id])
    expect(row).toEqual({ timeout_seconds: 600 })
  })

  test('what is not there is 404', async () => {
    const api = await createTestApi()
    for (const id of ['nothing', '018f0000-0000-7000-8000-000000000000']) {
      expect((await retry(api, id)).run).toMatchObject({ status: 404, code: 'run-not-found' })
    }
  })
})
