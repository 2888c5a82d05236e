/** The example on Ray: the same model and parameters as a program, as a job and in a pool, with the same result hash. */

import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { getRun, postRun } from '../support/http.ts'
import { openPlace, type Place } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { type Cluster, openCluster } from './cluster.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/monte-carlo/', import.meta.url))
const PARAMETERS = { spot: 100, strike: 105, paths: 20_000, seed: 7 }

let cluster: Cluster
let database: TestDatabase
let place: Place
let url: string

beforeAll(async () => {
  cluster = await openCluster()
  database = await createTestDatabase()
  place = await openPlace({ DATABASE_URL: database.url })
  url = (await place.startApi()).url
})
afterAll(async () => {
  await place?.close()
  await database?.drop()
  await cluster?.close()
})

/** With a worker that knows the model by this declaration alone. */
async function runBy(declaration: string, settings: Record<string, string> = {}) {
  const worker = await place.startWorker({
    HOLDFAST_MODELS: EXAMPLE + declaration,
    HOLDFAST_PUBLIC_URL: url,
    HOLDFAST_RAY_CLUSTERS: `default=${cluster.address}`,
    HOLDFAST_RAY_POLL_SECONDS: '0.5',
    ...settings,
  })
  const { run } = await postRun(url, 'monte_carlo', PARAMETERS)
  const ended = async () => {
    const now = await getRun(url, run.run_id)
    return now.finished_at && now
  }
  const last = await until(ended, { what: `${declaration} has run`, timeoutMs: 100_000, everyMs: 100 })
  worker.kill('SIGTERM')
  await worker.exited
  expect(last).toMatchObject({ status: 'SUCCEEDED', attempt_count: 1 })
  return { executor: last.attempts![0]!.executor, result: last.result_hash, payload: last.payload_hash }
}

it('gives the same result as a program, as a Ray job and in a Ray pool', async () => {
  const asProgram = await runBy('holdfast.yaml')
  const asJob = await runBy('ray.yaml')
  const inPool = await runBy('remote.yaml', { HOLDFAST_RAY_POOLS: 'default:1' })
  expect([asProgram.executor, asJob.executor, inPool.executor]).toEqual(['command', 'ray', 'remote'])
  expect(asJob).toEqual({ ...asProgram, executor: 'ray' })
  expect(inPool).toEqual({ ...asProgram, executor: 'remote' })
}, 300_000)
