/** Models that remote workers bring themselves. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApi, MODEL, openTestApi, type TestApi } from '../../../test/support/api.ts'
import { TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'
import { ModelObject } from '../../contract/directory.ts'

const BODY = {
  description: 'Prices an option.',
  parameters_schema: { type: 'object', properties: { paths: { type: 'integer', default: 10 }, note: {} } },
  ignore_in_hash: ['note'],
  volatile: ['seconds'],
  queue: 'risk',
  priority: 3,
  retry: { max_attempts: 2, backoff: 'fixed' },
  timeout_seconds: 60,
  expected_seconds: 5,
  concurrency: 4,
}

const put = ({ app }: TestApi, payload: object, url = '/models/price/1', headers = {}) =>
  app.inject({ method: 'PUT', url, payload, headers })

async function audited(api: TestApi): Promise<{ action: string; target: string }[]> {
  return api.db.query<{ action: string; target: string }>(
    `SELECT action, target FROM audit_events WHERE action LIKE 'model.%' ORDER BY id`,
  )
}

test('a model is registered once; the same again changes nothing, another definition replaces it; both changes are audited', async () => {
  const api = await createTestApi()
  const first = await put(api, BODY)
  expect([first.statusCode, first.headers.location]).toEqual([201, '/models/price?version=1'])
  expect(ModelObject.parse(first.json())).toMatchObject({
    name: 'price',
    version: '1',
    executor: 'remote',
    executors: ['remote'],
    queue: 'risk',
    priority: 3,
    ignore_in_hash: ['note'],
    volatile: ['seconds'],
    retry: { max_attempts: 2, backoff: 'fixed' },
    timeout_seconds: 60,
    concurrency: 4,
    offered: false,
  })
  const again = await put(api, BODY)
  expect([again.statusCode, again.json().registered_at]).toEqual([200, first.json().registered_at])
  const changed = await put(api, { parameters_schema: { type: 'object' } })
  expect([changed.statusCode, changed.json().queue, changed.json().description]).toEqual([200, 'default', null])
  expect(await audited(api)).toEqual([
    { action: 'model.register', target: 'price@1' },
    { action: 'model.change', target: 'price@1' },
  ])
})

test('runs of it are accepted from its schema, wait in its queue and may not ask for another executor', async () => {
  const api = await createTestApi()
  await put(api, BODY)
  const run = await api.create({ model: 'price', parameters: {} })
  expect(run).toMatchObject({ queue: 'risk', parameters: { paths: 10 } })
  expect(await api.store.readRun(run.run_id)).toMatchObject({ run: { executor: 'remote', maxAttempts: 2 } })
  const other = await api.submit({ model: 'price', parameters: {}, executor: 'process' })
  expect([other.statusCode, other.json().code]).toEqual([422, 'override-not-allowed'])
})

test('a version that our own workers registered is left as it is', async () => {
  const api = await createTestApi()
  const response = await put(api, BODY, `/models/${MODEL.name}/${MODEL.version}`)
  expect(response.json()).toMatchObject({ status: 409, code: 'model-registered-otherwise', executor: MODEL.executor })
  expect((await api.get(`/models/${MODEL.name}`)).json().executor).toBe(MODEL.executor)
  expect(await audited(api)).toEqual([])
})

describe('what cannot be registered is refused with its place', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await openTestApi()
  })
  afterAll(() => api.close())

  test.each<[string, object, string, string]>([
    [
      'a broken schema',
      { parameters_schema: { properties: { n: { minimun: 1 } } } },
      '/parameters_schema/properties/n/minimun',
      'nearest is minimum',
    ],
    ['a misspelt name', { ...BODY, ignore_in_hash: ['noet'] }, '/ignore_in_hash/0', 'nearest is note'],
    ['an empty part of a path', { ...BODY, volatile: ['a..b'] }, '/volatile/0', 'between dots'],
    [
      'a policy against itself',
      { ...BODY, retry: { base_delay_seconds: 2, max_delay_seconds: 1 } },
      '/retry',
      'must not be above',
    ],
    ['no schema', {}, '/parameters_schema', 'required'],
    ['an unknown key', { ...BODY, command: ['sh'] }, '/command', 'not a known name'],
    ['a queue no worker can name', { ...BODY, queue: '1 2' }, '/queue', 'a letter'],
  ])('%s', async (_what, body, pointer, detail) => {
    const response = await put(api, body)
    expect([response.statusCode, response.json().code]).toEqual([400, 'invalid-body'])
    expect(response.json().errors[0].pointer).toBe(pointer)
    expect(response.json().errors[0].detail).toContain(detail)
  })

  test('a name that no model may have', async () => {
    const response = await put(api, BODY, '/models/1%20a/1')
    expect(response.json()).toMatchObject({ status: 400, code: 'invalid-body' })
    expect(response.json().detail).toContain('the name in the path must be a letter')
  })

  test('nothing of it is registered', async () => {
    expect((await api.get('/models/price')).statusCode).toBe(404)
  })
})

test('a worker token for some queues registers models of these only', async () => {
  const api = await createTestApi({ config: { access: TOKENS_ONLY } })
  const { headers } = await testToken(api.store, 'worker', { queues: ['risk'] })
  expect((await put(api, BODY, '/models/price/1', headers)).statusCode).toBe(201)
  const other = await put(api, { ...BODY, queue: 'other' }, '/models/price/2', headers)
  expect([other.statusCode, other.json().code]).toEqual([403, 'forbidden'])

  const admin = await testToken(api.store, 'admin')
  expect((await put(api, { ...BODY, queue: 'other' }, '/models/price/2', admin.headers)).statusCode).toBe(201)
  const taken = await put(api, BODY, '/models/price/2', headers)
  expect([taken.statusCode, taken.json().code]).toEqual([403, 'forbidden'])
})
