import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { MODEL, openTestApi, type TestApi, WORKER } from '../../../test/support/api.ts'
import { RunObject, SubmitAnswer } from '../../contract/run.ts'
import type { ModelDefinition } from '../../run/definition.ts'

const NONE = { max_concurrent: null, runs_per_hour: null, runs_per_day: null, cost_per_day: null, cost_per_month: null }

let api: TestApi
let owners = 0
let owner = ''
let as: Record<string, string> = {}

beforeAll(async () => {
  const keyed = { ...MODEL, name: 'keyed', runsPerKey: { key: '/scenario' } }
  const shared: ModelDefinition = {
    ...MODEL,
    name: 'shared',
    runsPerKey: { key: '/scenario', mode: 'refuse', scope: 'everyone' },
  }
  api = await openTestApi({ models: [MODEL, keyed, shared] })
})
afterAll(() => api.close())

beforeEach(() => {
  owners += 1
  owner = `owner-${owners}`
  as = { 'holdfast-owner': owner }
  api.hints.length = 0
})

/** The next test claims what is its own. */
afterEach(async () => {
  const open = await api.db.query<{ id: string }>(`SELECT id FROM model_runs WHERE status = 'PENDING'`)
  for (const { id } of open) await api.store.cancel(id)
})

function needsApproval(maximum = 1): Promise<unknown> {
  const name = { owner, model: '', together: false }
  return api.store.quotas.put(name, { ...NONE, max_concurrent: maximum }, 'require_approval')
}

const submit = (body: object, headers = as) =>
  api.submit({ model: 'forecast', parameters: { scenario: 'a' }, ...body }, headers)
const create = (body: object = {}) => api.create(body, as)

const post = (url: string, body?: object, headers: Record<string, string> = as) =>
  api.app.inject({ method: 'POST', url, headers, ...(body && { payload: body }) })

test('a run over the rule is accepted, and says in its answer and in lists that it waits for approval', async () => {
  await needsApproval()
  await create()
  const answer = await submit({ parameters: { scenario: 'second' } })
  expect(answer.statusCode).toBe(201)
  const run = SubmitAnswer.parse(answer.json())
  const waiting = {
    reason: 'approval',
    rule: { owner, model: null, together: false, limit: 'max_concurrent', maximum: 1, used: 1 },
    since: expect.any(String),
  }
  expect(run).toMatchObject({ status: 'PENDING', available_at: null, waiting })
  const listed = (await api.get(`/runs?waiting=approval&owner=${owner}`)).json().data
  expect(listed).toHaveLength(1)
  expect(RunObject.parse(listed[0])).toMatchObject({ run_id: run.run_id, available_at: null, waiting })
  expect((await api.get(`/runs?waiting=concurrency&owner=${owner}`)).json().data).toEqual([])
  expect((await api.get('/runs?waiting=weather')).statusCode).toBe(400)
})

test('approving lets it go, hints its queue and is answered with the run; again is the same', async () => {
  await needsApproval()
  await create()
  const { run_id } = await create({ parameters: { scenario: 'second' } })
  api.hints.length = 0
  const approved = await post(`/runs/${run_id}/approve`, { reason: 'it is fine' })
  expect(approved.statusCode).toBe(200)
  expect(RunObject.parse(approved.json())).toMatchObject({ run_id, available_at: expect.any(String) })
  expect(api.hints).toEqual([{ topic: 'queue:default', runId: run_id }])
  expect((await post(`/runs/${run_id}/approve`)).statusCode).toBe(200)
  const events = (await api.get(`/runs/${run_id}/events`)).json().data
  expect(events.at(-1)).toMatchObject({ type: 'approved', message: 'it is fine', data: { reason: 'it is fine' } })
})

test('rejecting cancels it with the reason; approving it then is 409', async () => {
  await needsApproval()
  await create()
  const { run_id } = await create({ parameters: { scenario: 'second' } })
  const rejected = await post(`/runs/${run_id}/reject`, { reason: 'not now' })
  expect(RunObject.parse(rejected.json())).toMatchObject({
    status: 'CANCELLED',
    available_at: null,
    waiting: null,
    last_error: { class: 'Rejected', message: 'not now', attempt: 0 },
  })
  expect((await post(`/runs/${run_id}/approve`)).json()).toMatchObject({ status: 409, code: 'run-already-finished' })
})

test('a run that does not wait for approval is 409, an unknown one 404, a bad body 400', async () => {
  await needsApproval()
  const { run_id } = await create()
  expect((await post(`/runs/${run_id}/approve`)).json()).toMatchObject({
    status: 409,
    code: 'not-waiting-for-approval',
  })
  expect((await post('/runs/01890a0b-0c0d-7000-8000-000000000000/reject')).statusCode).toBe(404)
  expect((await post(`/runs/${run_id}/reject`, { because: 'x' })).statusCode).toBe(400)
})

test('the second run of a key waits, and says which run it waits for', async () => {
  const concurrency = { key: 'dataset-1' }
  const first = await create({ concurrency })
  const second = await create({ parameters: { scenario: 'second' }, concurrency })
  expect(second).toMatchObject({
    available_at: null,
    waiting: { reason: 'concurrency', limit: 1, limit_of: 'key', held: 1, held_by: [first.run_id], key: 'dataset-1' },
  })
  expect((await api.get(`/runs?waiting=concurrency&owner=${owner}`)).json().data[0].waiting).toEqual(second.waiting)
})

test('with the mode refuse it is 409 with the holders', async () => {
  const concurrency = { key: 'dataset-1', mode: 'refuse' }
  const first = await create({ concurrency })
  const refused = await submit({ parameters: { scenario: 'second' }, concurrency })
  expect(refused.json()).toMatchObject({
    status: 409,
    code: 'concurrency-limit',
    detail: 'The concurrency key dataset-1 allows one active run at a time.',
    holders: [first.run_id],
    key: 'dataset-1',
    maximum: 1,
  })
})

test('with the mode cancel_older the worker of the older run is told', async () => {
  const concurrency = { key: 'dataset-1', mode: 'cancel_older' }
  const first = await create({ concurrency })
  await api.claim()
  api.hints.length = 0
  const second = await create({ parameters: { scenario: 'second' }, concurrency })
  expect(second.waiting).toMatchObject({ reason: 'concurrency', held_by: [first.run_id] })
  await expect.poll(() => [...api.hints]).toContainEqual({ topic: `worker:${WORKER}`, runId: first.run_id })
})

test('with the mode cancel_older and an older run that waits the new one may start at once', async () => {
  const concurrency = { key: 'dataset-1', mode: 'cancel_older' }
  await create({ concurrency })
  const second = await create({ parameters: { scenario: 'second' }, concurrency })
  expect(second).toMatchObject({ available_at: expect.any(String), waiting: { reason: 'queued' } })
  expect((await api.claim()).runId).toBe(second.run_id)
})

test('a model that has keys decides alone, and its retries have them too', async () => {
  const of = { model: 'keyed', parameters: { scenario: 'a', months: 1 } }
  const asked = await submit({ ...of, concurrency: { key: 'x' } })
  expect(asked.json()).toMatchObject({ code: 'override-not-allowed', errors: [{ pointer: '/concurrency' }] })
  const first = await create(of)
  await api.store.cancel(first.run_id)
  const second = await create({ model: 'keyed', parameters: { scenario: 'a', months: 2 } })
  const retry = (await post(`/runs/${first.run_id}/retry`)).json()
  expect(retry.waiting).toMatchObject({ reason: 'concurrency', key: 'keyed/scenario=a', held_by: [second.run_id] })
  expect((await api.get('/models/keyed')).json().runs_per_key).toEqual({
    key: '/scenario',
    limit: 1,
    mode: 'queue',
    scope: 'owner',
  })
})

test('a retry of a run whose request asked for a key asks for it again, as that did', async () => {
  const concurrency = { key: 'dataset-1', limit: 2, mode: 'refuse' }
  const first = await create({ concurrency })
  await api.store.cancel(first.run_id)
  await create({ parameters: { scenario: 'second' }, concurrency })
  const retry = (await post(`/runs/${first.run_id}/retry`)).json()
  expect(retry).toMatchObject({ retry_of: first.run_id, waiting: { reason: 'queued' } })
  await api.store.cancel(retry.run_id)
  await create({ parameters: { scenario: 'third' }, concurrency })
  const refused = await post(`/runs/${retry.run_id}/retry`)
  expect(refused.json()).toMatchObject({ status: 409, code: 'concurrency-limit', key: 'dataset-1', maximum: 2 })
})

test('the place of a run that is cancelled goes to the next in line at once', async () => {
  const concurrency = { key: 'dataset-1' }
  const first = await create({ concurrency })
  const second = await create({ parameters: { scenario: 'second' }, concurrency })
  expect(second.available_at).toBeNull()
  api.hints.length = 0
  await post(`/runs/${first.run_id}/cancel`)
  await expect.poll(() => [...api.hints]).toContainEqual({ topic: 'queue:default', runId: second.run_id })
  expect((await api.claim()).runId).toBe(second.run_id)
})

test('who may see all runs is told those of other owners that hold a key', async () => {
  const of = { model: 'shared', parameters: { scenario: 'a' } }
  const { run_id } = await create(of)
  const refused = await submit({ ...of, dedupe: 'off' }, { 'holdfast-owner': 'somebody-else' })
  expect(refused.json()).toMatchObject({ code: 'concurrency-limit', holders: [run_id] })
})

test('runs of one batch say each why it waits', async () => {
  const runs = [1, 2].map((months) => ({
    model: 'forecast',
    parameters: { scenario: 'a', months },
    concurrency: { key: 'k' },
  }))
  const { data } = (await post('/runs/batch', { runs })).json()
  expect(data.map((item: { run: SubmitAnswer }) => item.run.waiting?.reason)).toEqual(['queued', 'concurrency'])
})
