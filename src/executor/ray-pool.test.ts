/** Supervising a Ray pool, on a job server that the test plays. */

import { expect, it, onTestFinished } from 'vitest'
import { act, type RayStub, rayStub } from '../../test/support/ray-stub.ts'
import { loses } from '../../test/support/scripted-http.ts'
import { until } from '../../test/support/until.ts'
import type { ModelDefinition } from '../run/definition.ts'
import { RayClient } from './ray-client.ts'
import { RayPool, type RayPoolOptions } from './ray-pool.ts'

const MODEL = {
  name: 'add',
  version: '1',
  python: { callable: 'models:add' },
} as Partial<ModelDefinition> as ModelDefinition

function poolOn(stub: RayStub, changes: Partial<RayPoolOptions> = {}) {
  const events: string[] = []
  const client = new RayClient({ address: stub.url, timeoutMs: 1_000 })
  const pool = new RayPool({
    client,
    queue: 'default',
    actors: 3,
    models: [MODEL],
    serviceUrl: 'http://service.example',
    installation: 'here',
    tokenFile: '/run/secrets/token',
    checkEveryMs: 10,
    drainMs: 1_000,
    restartMs: { first: 5, max: 20 },
    onEvent: (message) => void events.push(message),
    ...changes,
  })
  onTestFinished(async () => {
    await pool.stop()
    client.close()
  })
  return { pool, events }
}

const started = (stub: RayStub, count: number) => until(() => stub.jobs.size >= count, { what: `${count} starts` })

it('starts the pool with its models, its programs and time to drain, and nothing secret', async () => {
  const stub = await rayStub()
  poolOn(stub)
  await started(stub, 1)
  const [submission] = stub.submits
  expect(submission).toMatchObject({
    submission_id: 'pool-default-here-1',
    metadata: { holdfast: 'here', pool: 'default' },
  })
  const { env_vars, py_modules } = submission!.runtime_env as { env_vars: Record<string, string>; py_modules: string[] }
  expect(py_modules).toEqual([expect.stringMatching(/^gcs:\/\/_ray_pkg_[0-9a-f]{32}\.zip$/)])
  expect(stub.seen.filter(({ method }) => method === 'PUT')).toHaveLength(1)
  expect(env_vars.RAY_JOB_STOP_WAIT_TIME_S).toBe('16')
  expect(JSON.parse(env_vars.HOLDFAST_RAY_POOL!)).toMatchObject({
    queue: 'default',
    actors: 3,
    token_file: '/run/secrets/token',
    models: [{ name: 'add', version: '1', callable: 'models:add' }],
  })
})

it('leaves a pool alone that runs as it should, also when another supervisor started it', async () => {
  const stub = await rayStub()
  poolOn(stub)
  await started(stub, 1)
  poolOn(stub)
  const before = stub.count('GET /api/jobs/')
  await until(() => stub.count('GET /api/jobs/') > before + 10, { what: 'both look at it' })
  expect([...stub.jobs.keys()]).toEqual(['pool-default-here-1'])
  expect(stub.stops).toEqual([])
})

it('starts one pool when the reply to the start is lost', async () => {
  const stub = await rayStub()
  const { events } = poolOn(stub)
  await until(() => stub.seen.some(({ path }) => path.startsWith('/api/packages/')), { what: 'it begins' })
  stub.down = loses()
  await until(() => events.length > 0, { what: 'it notices' })
  stub.down = null
  await started(stub, 1)
  const before = stub.count('GET /api/jobs/')
  await until(() => stub.count('GET /api/jobs/') > before + 5, { what: 'it looks at it' })
  expect(stub.jobs.size).toBe(1)
})

it('starts it again under a new generation when it ended', async () => {
  const stub = await rayStub()
  const { events } = poolOn(stub)
  for (const generation of [1, 2]) {
    await started(stub, generation)
    stub.change(`pool-default-here-${generation}`, { status: 'FAILED' })
  }
  await started(stub, 3)
  expect([...stub.jobs.keys()]).toEqual(['pool-default-here-1', 'pool-default-here-2', 'pool-default-here-3'])
  expect(events.filter((message) => message.includes('starting it again')).length).toBeGreaterThanOrEqual(2)
})

it('drains a pool of another size once its successor runs', async () => {
  const stub = await rayStub()
  const metadata = { holdfast: 'here', pool: 'default', config: 'another' }
  const old = { submission_id: 'pool-default-here-7', metadata }
  act(stub, { method: 'POST', path: '/api/jobs/', headers: {}, text: '', json: () => old })
  poolOn(stub)
  await started(stub, 2)
  await until(() => stub.jobs.get('pool-default-here-7')?.status === 'STOPPED', { what: 'the old one is drained' })
  expect(stub.jobs.get('pool-default-here-8')?.status).toBe('RUNNING')
})

it('drains the pool when it is stopped', async () => {
  const stub = await rayStub()
  const { pool } = poolOn(stub)
  await started(stub, 1)
  await pool.stop()
  expect(stub.stops).toEqual(['pool-default-here-1'])
  expect(stub.jobs.get('pool-default-here-1')?.status).toBe('STOPPED')
})

it('starts nothing without a model', async () => {
  const stub = await rayStub()
  const { events } = poolOn(stub, { models: [] })
  await until(() => events.length > 0, { what: 'it says so' })
  expect(stub.seen).toEqual([])
})

it('starts beside a pool of another installation for a queue of the same name', async () => {
  const stub = await rayStub()
  const metadata = { holdfast: 'elsewhere', pool: 'default', config: 'another' }
  const foreign = { submission_id: 'pool-default-elsewher-1', metadata }
  act(stub, { method: 'POST', path: '/api/jobs/', headers: {}, text: '', json: () => foreign })
  poolOn(stub)
  await started(stub, 2)
  expect([...stub.jobs.keys()]).toEqual(['pool-default-elsewher-1', 'pool-default-here-1'])
  expect(stub.jobs.get('pool-default-elsewher-1')?.status).not.toBe('STOPPED')
})
