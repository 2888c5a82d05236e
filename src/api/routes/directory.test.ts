/** Models, queues and workers over HTTP. */

import { expect, test } from 'vitest'
import { createTestApi, MODEL, type TestApi, WORKER } from '../../../test/support/api.ts'
import { ModelObject, ModelsAnswer, QueueObject, QueuesAnswer, WorkersAnswer } from '../../contract/directory.ts'

const worker = (changes: object) => ({
  workerId: 'w2',
  host: 'there',
  pid: 2,
  version: '0',
  queues: ['default'],
  concurrency: 4,
  models: [],
  ...changes,
})

const post = ({ app }: TestApi, url: string, payload?: object) => app.inject({ method: 'POST', url, payload })

test('a model is told with its schema, its effective retry policy, its versions and whether it is offered', async () => {
  const api = await createTestApi({ config: { retry: { maxAttempts: 7 } } })
  await api.store.registerWorker(
    worker({ models: [{ ...MODEL, version: '2', concurrency: 3, retry: { jitter: 0.5 } }] }),
  )
  await api.store.workerStopped('w2')
  const response = await api.get('/models/forecast')
  expect(response.statusCode).toBe(200)
  const model = ModelObject.parse(response.json())
  expect(model).toMatchObject({
    name: 'forecast',
    version: '2',
    parameters_schema: MODEL.parametersSchema,
    queue: 'default',
    concurrency: 3,
    expected_seconds: 100,
    retry: { max_attempts: 7, jitter: 0.5 },
    offered: false,
    versions: [
      { version: '2', offered: false, live_workers: 0 },
      { version: '1', offered: true, live_workers: 1 },
    ],
  })
  expect((await api.get('/models/forecast?version=1')).json()).toMatchObject({ version: '1', offered: true })
})

test('an unknown model or version is 404 and names what there is', async () => {
  const api = await createTestApi()
  const unknown = await api.get('/models/forecasd')
  expect([unknown.statusCode, unknown.json().code, unknown.json().nearest]).toEqual([
    404,
    'unknown-model',
    ['forecast'],
  ])
  const version = await api.get('/models/forecast?version=9')
  expect([version.statusCode, version.json().code]).toEqual([404, 'unknown-model-version'])
})

test('models come in pages, in the order of their names, whatever the names are', async () => {
  const names = ['a/b c', 'ü'.repeat(128), 'forecast', 'z']
  const api = await createTestApi({ models: names.map((name) => ({ ...MODEL, name })) })
  const seen: string[] = []
  let next: string | null = ''
  while (next !== null) {
    const cursor: string = next === '' ? '' : `&cursor=${next}`
    const page = ModelsAnswer.parse((await api.get(`/models?limit=3${cursor}`)).json())
    seen.push(...page.data.map(({ name }) => name))
    next = page.next_cursor
  }
  expect(seen).toHaveLength(4)
  expect(new Set(seen)).toEqual(new Set(names))
  for (const name of names) {
    expect((await api.get(`/models/${encodeURIComponent(name)}`)).json()).toMatchObject({ name })
  }
})

test.each(['/models?cursor=!', '/queues?cursor=%00', '/workers?cursor=AAAA', '/models?limit=0', '/workers?state=dead'])(
  '%s is refused',
  async (url) => {
    const api = await createTestApi()
    const response = await api.get(url)
    expect([response.statusCode, response.json().code]).toEqual([400, 'invalid-query'])
  },
)

test('a queue tells its depth, the age of its oldest waiting run, its workers and their limits', async () => {
  const api = await createTestApi()
  await api.create()
  await api.create({ parameters: { scenario: 'b' } })
  const later = new Date(Date.now() + 3_600_000).toISOString()
  await api.create({ parameters: { scenario: 'c' }, available_at: later })
  await api.claim()
  const queue = async () => QueueObject.parse((await api.get('/queues/default')).json())
  expect(await queue()).toMatchObject({
    queue: 'default',
    paused: false,
    pending: 2,
    pending_capped: false,
    running: 1,
    live_workers: 1,
    slots: 10,
    limit: null,
  })
  expect((await queue()).oldest_waiting_seconds).toBeGreaterThanOrEqual(0)
  await api.store.registerWorker(worker({ workerId: WORKER, queueLimits: { default: 2 } }))
  await api.store.registerWorker(worker({ queueLimits: { default: 3 } }))
  expect(await queue()).toMatchObject({ live_workers: 2, slots: 5, limit: 5 })
  expect(QueuesAnswer.parse((await api.get('/queues')).json()).data).toHaveLength(1)
})

test('a paused queue says so, starts nothing, and goes on with a hint when resumed; doing it again changes nothing', async () => {
  const api = await createTestApi()
  const { run_id } = await api.create()
  api.hints.length = 0
  for (let time = 0; time < 2; time += 1) {
    const paused = await post(api, '/queues/default/pause')
    expect([paused.statusCode, paused.json().paused]).toEqual([200, true])
  }
  await expect(api.claim()).rejects.toThrow('nothing to claim')
  expect((await api.get(`/runs/${run_id}`)).json().waiting).toMatchObject({ reason: 'queue-paused' })
  for (let time = 0; time < 2; time += 1) {
    const resumed = await post(api, '/queues/default/resume', {})
    expect([resumed.statusCode, resumed.json().paused]).toEqual([200, false])
  }
  expect(api.hints.map(({ topic }) => topic)).toEqual(['queue:default'])
  expect((await api.claim()).runId).toBe(run_id)
  const { events } = await api.store.audit.list({ limit: 10, cursor: null })
  const acts = events.map(({ action, target }) => [action, target])
  expect(acts).toEqual([
    ['queue.resume', 'default'],
    ['queue.pause', 'default'],
  ])
})

test.each(['GET /queues/typo', 'POST /queues/typo/pause', 'POST /queues/typo/resume'])('%s is 404', async (route) => {
  const api = await createTestApi()
  const [method, url] = route.split(' ') as ['GET' | 'POST', string]
  const response = await api.app.inject({ method, url })
  expect([response.statusCode, response.json().code]).toEqual([404, 'queue-not-found'])
  expect((await api.get('/queues')).json().data).toHaveLength(1)
})

test('workers are told with what they offer, their limits, what they execute and whether they live', async () => {
  const api = await createTestApi()
  await api.create()
  await api.claim()
  await api.store.registerWorker(
    worker({ models: [{ ...MODEL, concurrency: 1 }], queues: ['default', 'gpu'], queueLimits: { gpu: 2 } }),
  )
  await api.store.registerWorker(worker({ workerId: 'w3' }))
  await api.store.workerStopped('w3')
  await api.store.registerWorker(worker({ workerId: 'w4' }))
  await api.db.query(`UPDATE workers SET last_seen_at = clock() - interval '121 seconds' WHERE worker_id = 'w4'`)
  const { data } = WorkersAnswer.parse((await api.get('/workers')).json())
  expect(data.map(({ worker_id, state, running }) => [worker_id, state, running])).toEqual([
    ['w4', 'silent', 0],
    ['w3', 'stopped', 0],
    ['w2', 'live', 0],
    [WORKER, 'live', 1],
  ])
  expect(data[2]).toMatchObject({
    host: 'there',
    pid: 2,
    concurrency: 4,
    queues: [
      { queue: 'default', limit: null },
      { queue: 'gpu', limit: 2 },
    ],
    models: [{ model: 'forecast@1', limit: 1 }],
  })
  const live = (await api.get('/workers?state=live&limit=1')).json()
  expect(live.data).toMatchObject([{ worker_id: 'w2' }])
  const rest = (await api.get(`/workers?state=live&cursor=${live.next_cursor}`)).json()
  expect(rest).toMatchObject({ data: [{ worker_id: WORKER }], next_cursor: null })
})
