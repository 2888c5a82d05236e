import { expect, test } from 'vitest'
import { BODY, createTestApi, MODEL, WORKER } from '../../../test/support/api.ts'
import { ListAnswer } from '../../contract/list.ts'
import { RunObject, SubmitAnswer } from '../../contract/run.ts'

test('a new run is 201 with its address, its whole object and links', async () => {
  const { submit } = await createTestApi()
  const response = await submit(BODY)
  const run = SubmitAnswer.parse(response.json())
  expect(response.statusCode).toBe(201)
  expect(response.headers.location).toBe(`/runs/${run.run_id}`)
  expect(run).toMatchObject({
    model: 'forecast',
    model_version: '1',
    status: 'PENDING',
    owner: 'default',
    queue: 'default',
    parameters: { scenario: 'high_inflation', months: 24 },
    attempts: [],
    max_attempts: 3,
    waiting: { reason: 'queued' },
    idempotent_hit: false,
    links: { self: `/runs/${run.run_id}`, result: `/runs/${run.run_id}/result`, events: `/runs/${run.run_id}/events` },
  })
})

test('every name of a run is on the wire, with null for what is absent', async () => {
  const { create, get } = await createTestApi()
  const { run_id } = await create()
  const response = await get(`/runs/${run_id}`)
  expect(response.statusCode).toBe(200)
  const run = RunObject.parse(response.json())
  expect(run).toMatchObject({ lease: null, last_error: null, result_ref: null, batch_id: null, title: null, tags: [] })
  expect(Object.keys(response.json()).sort()).toEqual(Object.keys(RunObject.shape).sort())
})

test('what the body asks for is kept', async () => {
  const { create, db } = await createTestApi({ queues: ['default', 'gpu'] })
  const run = await create(
    {
      queue: 'gpu',
      priority: -7,
      available_at: '2030-01-31T08:00:00+02:00',
      tags: ['a', 'b'],
      title: 'Été',
      batch_id: '01890a0b-0c0d-7000-8000-000000000000',
      executor: 'process',
      max_attempts: 2,
      timeout_seconds: 12.5,
      model_version: '1',
    },
    { 'holdfast-owner': 'ana', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  )
  expect(run).toMatchObject({
    owner: 'ana',
    queue: 'gpu',
    priority: -7,
    available_at: '2030-01-31T06:00:00.000Z',
    waiting: { reason: 'scheduled', until: '2030-01-31T06:00:00.000Z' },
    tags: ['a', 'b'],
    title: 'Été',
    batch_id: '01890a0b-0c0d-7000-8000-000000000000',
    max_attempts: 2,
  })
  expect(await db.query('SELECT timeout_seconds, executor, trace_parent, seed FROM model_runs')).toEqual([
    {
      timeout_seconds: 12.5,
      executor: 'process',
      trace_parent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      seed: Number.parseInt(run.payload_hash.slice(0, 13), 16),
    },
  ])
})

test('names given as null count as not given', async () => {
  const { create } = await createTestApi()
  const nulls = Object.fromEntries(
    ['model_version', 'queue', 'dedupe', 'title', 'tags', 'reservation_id'].map((name) => [name, null]),
  )
  expect(await create(nulls)).toMatchObject({ model_version: '1', queue: 'default', title: null, tags: [] })
})

test('a malformed traceparent is ignored', async () => {
  const { create, db } = await createTestApi()
  await create({}, { traceparent: '00-00000000000000000000000000000000-b7ad6b7169203331-01' })
  expect(await db.query('SELECT trace_parent FROM model_runs')).toEqual([{ trace_parent: null }])
})

test('after a new run its queue gets a hint, is counted, and the log says so with the request id', async () => {
  const { create, hints, logLines, get } = await createTestApi()
  const run = await create({}, { 'x-request-id': 'req-7' })
  expect(hints).toEqual([{ topic: 'queue:default', runId: run.run_id }])
  expect((await get('/metrics')).body).toContain('runs_created_total 1')
  expect(logLines.filter(({ msg }) => msg === 'run created')).toMatchObject([
    {
      request_id: 'req-7',
      run_id: run.run_id,
      payload_hash: run.payload_hash,
      status: 'PENDING',
      attempt_count: 0,
      queue: 'default',
      executor: 'process',
      worker_id: null,
    },
  ])
})

test('the newest registered version is used without a version in the request', async () => {
  const { create, store } = await createTestApi()
  const worker = { workerId: 'w2', host: 'h', pid: 2, version: '0', queues: ['default'], concurrency: 1 }
  await store.registerWorker({ ...worker, models: [{ ...MODEL, version: '2' }] })
  expect((await create()).model_version).toBe('2')
})

test('values of sensitive names are hidden in every answer and kept in the database', async () => {
  const { create, get, db } = await createTestApi()
  const run = await create({ parameters: { scenario: 's', api_key: 'canary-1', note: { password: 'canary-2' } } })
  const shown = { scenario: 's', months: 24, api_key: '[redacted]', note: { password: '[redacted]' } }
  expect(run.parameters).toEqual(shown)
  expect((await get(`/runs/${run.run_id}`)).json().parameters).toEqual(shown)
  expect((await get('/runs')).json().data[0].parameters).toEqual(shown)
  const [row] = await db.query<{ parameters: object }>('SELECT parameters FROM model_runs')
  expect(row!.parameters).toMatchObject({ api_key: 'canary-1', note: { password: 'canary-2' } })
})

test('a running and failed run shows its lease, attempts and error', async () => {
  const { create, get, claim, settle, store } = await createTestApi()
  const { run_id } = await create()
  const lease = await claim()
  await store.saveProgress([{ ...lease, progress: { done: 1, token: 'canary' } }])
  const running = RunObject.parse((await get(`/runs/${run_id}`)).json())
  expect(running).toMatchObject({ status: 'RUNNING', lease: { owner: WORKER, epoch: 1 }, waiting: null })
  expect(running.attempts).toMatchObject([{ attempt: 1, state: 'RUNNING', progress: { done: 1, token: '[redacted]' } }])
  await settle(lease, { kind: 'fail', error: { class: 'Boom', message: 'it broke', stack: 'at x', exitCode: 3 } })
  const failed = RunObject.parse((await get(`/runs/${run_id}`)).json())
  expect(failed).toMatchObject({
    status: 'FAILED',
    lease: null,
    last_error: { class: 'Boom', message: 'it broke', attempt: 1 },
    attempts: [{ state: 'FAILED', error: { class: 'Boom', message: 'it broke', stack: 'at x' }, exit_code: 3 }],
  })
})

test('a waiting run says why', async () => {
  const { create, get, store, db } = await createTestApi()
  const { run_id } = await create()
  await store.setQueuePaused('default', true)
  expect((await get(`/runs/${run_id}`)).json().waiting).toMatchObject({ reason: 'queue-paused', until: null })
  await store.setQueuePaused('default', false)
  await db.shiftClock('1 hour')
  expect((await get(`/runs/${run_id}`)).json().waiting).toMatchObject({ reason: 'no-worker' })
})

test.each([
  ['no number', 'x'],
  ['unknown', '01890a0b-0c0d-7000-8000-000000000000'],
  ['a NUL', '%00'],
  ['badly encoded', '%zz'],
  ['long', 'a'.repeat(90)],
  ['very long', 'a'.repeat(3_000)],
])('an id that is %s is not found', async (_what, id) => {
  const { get } = await createTestApi()
  const response = await get(`/runs/${id}`)
  expect(response.statusCode).toBe(404)
  expect(response.json().code).toMatch(/not-found$/)
})

test('a run is found by its id in capitals too', async () => {
  const { create, get } = await createTestApi()
  const { run_id } = await create()
  expect((await get(`/runs/${run_id.toUpperCase()}`)).json().run_id).toBe(run_id)
})

test('lists are newest first and page without gaps or repeats', async () => {
  const { create, get } = await createTestApi()
  const ids: string[] = []
  for (let index = 0; index < 5; index += 1) ids.unshift((await create({ dedupe: 'off' })).run_id)
  const seen: string[] = []
  let path = '/runs?limit=2'
  for (let pages = 0; path !== ''; pages += 1) {
    expect(pages).toBeLessThan(3)
    const page = ListAnswer.parse((await get(path)).json())
    expect(page.data.every(({ attempts }) => attempts === null)).toBe(true)
    seen.push(...page.data.map(({ run_id }) => run_id))
    path = page.next_cursor === null ? '' : `/runs?limit=2&cursor=${page.next_cursor}`
  }
  expect(seen).toEqual(ids)
})

test('lists are narrowed by status, repeated or with commas', async () => {
  const { create, get, claim } = await createTestApi()
  const { run_id } = await create({ dedupe: 'off' })
  await create({ dedupe: 'off' })
  await claim()
  const count = async (path: string) => (await get(path)).json().data.length
  expect(await count('/runs?status=PENDING,RUNNING')).toBe(2)
  expect(await count('/runs?status=PENDING&status=RUNNING')).toBe(2)
  expect(await count('/runs?status=FAILED')).toBe(0)
  const running = (await get('/runs?status=RUNNING')).json()
  expect(running.data.map((run: RunObject) => run.run_id)).toEqual([run_id])
  expect(running.next_cursor).toBeNull()
})

test.each([
  ['stauts=PENDING', 'did you mean status'],
  ['status=pending', 'status'],
  ['status=', 'status'],
  ['limit=0', 'limit'],
  ['limit=201', 'limit'],
  ['limit=1.5', 'limit'],
  ['limit=1&limit=2', 'limit'],
  ['cursor=', 'cursor'],
  ['cursor=nonsense', 'cursor'],
  [`cursor=${Buffer.from('99999999999999999.x').toString('base64url')}`, 'cursor'],
])('the list refuses ?%s', async (query, named) => {
  const { get } = await createTestApi()
  const response = await get(`/runs?${query}`)
  expect(response.statusCode).toBe(400)
  expect(response.json()).toMatchObject({ code: 'invalid-query', detail: expect.stringContaining(named) })
})
