/** API and workers as processes of their own: what each of them answers to those who watch it. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { postRun, runEnds } from '../support/http.ts'
import { openPlace, type Place, stopped } from '../support/processes.ts'
import { until } from '../support/until.ts'

let place: Place
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  place = await openPlace({ DATABASE_URL: database.url })
})
afterAll(async () => {
  await place.close()
  await database.drop()
})

const metricsOf = async (url: string) => (await fetch(`${url}/metrics`)).text()

it('a worker answers for itself on its own port, and the API for the whole from the database', {
  timeout: 60_000,
}, async () => {
  const worker = await place.startWorker({ HOLDFAST_WORKER_PORT: '0' })
  const { url: probe } = (await worker.says('answering probes')) as unknown as { url: string }
  const api = await place.startApi()
  expect((await fetch(`${probe}/livez`)).status).toBe(200)
  expect((await fetch(`${probe}/readyz`)).status).toBe(200)

  const { run } = await postRun(api.url, 'adds', { n: 1 })
  expect(await runEnds(api.url, run.run_id)).toMatchObject({ status: 'SUCCEEDED' })
  expect(await metricsOf(probe)).toMatch(/^runs_succeeded_total 1$/m)
  expect(await metricsOf(probe)).toMatch(/^queue_lag_seconds_count 1$/m)
  await until(async () => /^runs_succeeded_total 1$/m.test(await metricsOf(api.url)), {
    what: 'the API tells of the success',
    timeoutMs: 20_000,
  })
  expect(await stopped(worker, api)).toEqual([0, 0])
})

it('a worker has no port unless it is given one, and says so when it is taken', async () => {
  const quiet = await place.startWorker()
  expect(quiet.lines.some(({ msg }) => msg === 'answering probes')).toBe(false)
  const api = await place.startApi()
  const taken = place.run(['worker', '--port', new URL(api.url).port])
  expect((await taken.exited).code).toBe(1)
  expect(taken.text()).toContain('EADDRINUSE')
  await stopped(quiet, api)
})
