/** The whole service with a real Ray: API and workers as processes, a model declared in a YAML file. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { openPlace, type Place } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { isRunning } from './is-running.ts'

const MODELS = fileURLToPath(new URL('./models', import.meta.url))

let cluster: Cluster
let database: TestDatabase
let place: Place
let url: string
let settings: Record<string, string>

beforeAll(async () => {
  cluster = await openCluster()
  database = await createTestDatabase()
  place = await openPlace({ DATABASE_URL: database.url, HOLDFAST_LEASE_SECONDS: '3' })
  const models = ['add', 'wait', 'fail'].map((name) => ({
    name,
    executor: 'ray',
    python: `ray_models:${name}`,
    folder: MODELS,
    parameters: { type: 'object' },
    retry: { max_attempts: 3, backoff: 'fixed', base_delay_seconds: 0.1 },
  }))
  // Every JSON text is a YAML text.
  writeFileSync(join(place.folder, 'holdfast.yaml'), JSON.stringify({ models }))
  url = (await place.startApi()).url
  settings = {
    HOLDFAST_MODELS: 'holdfast.yaml',
    HOLDFAST_PUBLIC_URL: url,
    HOLDFAST_RAY_CLUSTERS: `default=${cluster.address}`,
    HOLDFAST_RAY_POLL_SECONDS: '0.5',
    HOLDFAST_RAY_LOST_SECONDS: '3',
  }
})
afterAll(async () => {
  await place?.close()
  await database?.drop()
  await cluster?.close()
})

// biome-ignore lint/suspicious/noExplicitAny: the tests know what is answered.
async function ask(method: string, path: string, body?: object): Promise<any> {
  const init = { method, ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }) }
  return (await fetch(url + path, init)).json()
}

async function submitted(model: string, parameters: object): Promise<string> {
  return (await ask('POST', '/runs', { model, parameters })).run_id
}

async function inState(runId: string, status: string) {
  const check = async () => {
    const run = await ask('GET', `/runs/${runId}`)
    if (run.finished_at && run.status !== status) throw new Error(JSON.stringify(run, null, 2))
    return run.status === status && run
  }
  return until(check, { what: `run ${runId} is ${status}`, timeoutMs: 100_000, everyMs: 100 })
}

/** A run whose job has started and waits. */
async function waiting(name: string) {
  const folder = join(place.folder, name)
  await mkdir(folder)
  const runId = await submitted('wait', { folder })
  const starts = () =>
    existsSync(join(folder, 'starts')) ? readFileSync(join(folder, 'starts'), 'utf8').trim().split('\n') : []
  const hasStarted = (count: number) =>
    until(() => starts().length >= count, { what: 'the job runs', timeoutMs: 90_000 })
  await hasStarted(1)
  return { runId, starts, hasStarted, go: () => writeFileSync(join(folder, 'go'), '') }
}

it('a worker that is killed is followed by one that adopts its job, which is started once', async () => {
  const first = await place.startWorker(settings)
  const { runId, starts, go } = await waiting('adopted')
  const second = await place.startWorker(settings)
  first.kill('SIGKILL')
  await first.exited
  await second.says('run adopted', 30_000)
  go()
  const run = await inState(runId, 'SUCCEEDED')
  expect(starts()).toHaveLength(1)
  expect(run.attempt_count).toBe(1)
  expect(run.attempts[0].external_ref).toMatchObject({ cluster: 'default', submission_id: `run-${runId}-a1` })
  expect(await ask('GET', `/runs/${runId}/result`)).toMatchObject({ waited: true })
  second.kill('SIGTERM')
  await second.exited
})

it('a worker that stops leaves the job to the next one', async () => {
  const first = await place.startWorker({ ...settings, HOLDFAST_SHUTDOWN_GRACE_SECONDS: '0' })
  const { runId, starts, go } = await waiting('stopped')
  first.kill('SIGTERM')
  expect((await first.exited).code).toBe(0)
  const second = await place.startWorker(settings)
  await second.says('run adopted', 30_000)
  go()
  expect((await inState(runId, 'SUCCEEDED')).attempt_count).toBe(1)
  expect(starts()).toHaveLength(1)
  second.kill('SIGTERM')
  await second.exited
})

it('a cancelled run is CANCELLED when its processes are gone', async () => {
  const worker = await place.startWorker(settings)
  const { runId, starts } = await waiting('cancelled')
  await ask('POST', `/runs/${runId}/cancel`, {})
  await inState(runId, 'CANCELLED')
  for (const pid of starts()[0]!.split(' ')) expect(isRunning(Number(pid))).toBe(false)
  worker.kill('SIGTERM')
  await worker.exited
})

it('a failed run has its traceback, and its output is in its log', async () => {
  const worker = await place.startWorker(settings)
  const failed = await submitted('fail', { what: 'pears' })
  const added = await submitted('add', { numbers: [1, 2] })
  const run = await inState(failed, 'FAILED')
  expect(run.attempt_count).toBe(3)
  expect(run.last_error).toMatchObject({ class: 'ValueError', message: 'cannot add pears' })
  await inState(added, 'SUCCEEDED')
  expect(JSON.stringify(await ask('GET', `/runs/${added}/logs`))).toContain('adding 2 numbers')
  worker.kill('SIGTERM')
  await worker.exited
})

it('a run whose head was killed is LOST and runs again when it is back', async () => {
  const worker = await place.startWorker(settings)
  const { runId, hasStarted, go } = await waiting('head')
  await inState(runId, 'RUNNING')
  await cluster.kill()
  await cluster.start()
  await hasStarted(2)
  go()
  const run = await inState(runId, 'SUCCEEDED')
  expect(run.attempts.map(({ state }: { state: string }) => state)).toEqual(['LOST', 'SUCCEEDED'])
  worker.kill('SIGTERM')
  await worker.exited
})
