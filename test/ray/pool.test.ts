/** The Ray pool on a real cluster, taking runs from the real API. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { isOver } from '../../src/executor/ray-client.ts'
import { RayPool } from '../../src/executor/ray-pool.ts'
import type { ModelDefinition } from '../../src/run/definition.ts'
import { MODEL, openTestApi, type TestApi } from '../support/api.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { until } from '../support/until.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { isRunning } from './is-running.ts'

const FOLDER = fileURLToPath(new URL('./models', import.meta.url))

const MODELS: ModelDefinition[] = ['add', 'fail', 'deaf', 'die'].map((name) => ({
  ...MODEL,
  name,
  parametersSchema: { type: 'object' },
  executor: 'remote',
  retry: { maxAttempts: 1 },
  python: { callable: `pool_models:${name}`, folder: FOLDER },
}))

let cluster: Cluster
let api: TestApi
let pool: RayPool
const events: string[] = []

beforeAll(async () => {
  cluster = await openCluster()
  api = await openTestApi({ models: MODELS })
  const serviceUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
  pool = new RayPool({
    client: cluster.client,
    queue: 'default',
    actors: 2,
    models: MODELS,
    serviceUrl,
    installation: 'test',
    tokenFile: null,
    checkEveryMs: 500,
    drainMs: 5_000,
    restartMs: { first: 100, max: 1_000 },
    onEvent: (message) => void events.push(message),
  })
})
afterAll(async () => {
  await pool?.stop()
  await api?.close()
  await cluster?.close()
})

async function poolJobs() {
  const jobs = await cluster.client.jobs()
  return jobs.filter(({ submission_id }) => submission_id?.startsWith('pool-'))
}

async function run(model: string, parameters: object) {
  return (await api.create({ model, parameters })).run_id
}

async function ended(runId: string) {
  return until(
    async () => {
      const { run } = (await api.store.readRun(runId, null))!
      return ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(run.status) && run
    },
    { what: `run ${runId} ends`, timeoutMs: 100_000 },
  )
}

describe('the pool', () => {
  it('runs what is submitted, and says what it printed', async () => {
    const ids = await Promise.all([1, 2, 3, 4, 5].map((number) => run('add', { numbers: [number, 1] })))
    for (const [index, id] of ids.entries()) {
      expect((await ended(id)).status).toBe('SUCCEEDED')
      expect(JSON.parse((await api.store.readResult(id))!.text!)).toMatchObject({ sum: index + 2 })
    }
    const { pieces } = await api.store.attemptLogs.read(ids[0]!, { attempt: 1, after: 0, limit: 100 })
    expect(pieces.map(({ text }) => text).join('')).toContain('adding in')
  })

  it('fails with the class and the traceback from the actor', async () => {
    const { status, lastError, id } = await ended(await run('fail', {}))
    expect(status).toBe('FAILED')
    expect(lastError).toMatchObject({ class: 'KeyError' })
    const { attempts } = (await api.store.readRun(id, null))!
    expect(attempts[0]!.error!.stack).toContain('pool_models.py')
  })

  it('survives an actor that dies, and its attempt fails', async () => {
    expect(await ended(await run('die', {}))).toMatchObject({
      status: 'FAILED',
      lastError: { class: 'ActorDiedError' },
    })
    expect((await ended(await run('add', { numbers: [1, 2, 4] }))).status).toBe('SUCCEEDED')
  })

  it('ends work that is cancelled and does not listen', async () => {
    const { path: folder, remove } = await tempFolder()
    onTestFinished(remove)
    const id = await run('deaf', { folder })
    const pid = await until(
      () => existsSync(join(folder, 'started')) && readFileSync(join(folder, 'started'), 'utf8'),
      {
        what: 'it started',
        timeoutMs: 60_000,
      },
    )
    await api.store.cancel(id)
    expect((await ended(id)).status).toBe('CANCELLED')
    await until(() => !isRunning(Number(pid)), { what: 'its actor is gone' })
  })

  it('is started again when it was killed, under a new generation', async () => {
    const [before] = await poolJobs()
    await cluster.client.stop(before!.submission_id!)
    expect((await ended(await run('add', { numbers: [7] }))).status).toBe('SUCCEEDED')
    const jobs = await poolJobs()
    expect(jobs.map(({ submission_id }) => submission_id).sort()).toEqual([
      'pool-default-test-1',
      'pool-default-test-2',
    ])
    expect(events).toContain('the Ray pool ended; starting it again')
  })

  it('is drained when it is stopped, and says goodbye', async () => {
    const id = await run('add', { numbers: [8] })
    expect((await ended(id)).status).toBe('SUCCEEDED')
    await pool.stop()
    expect((await poolJobs()).every(isOver)).toBe(true)
  })
})
