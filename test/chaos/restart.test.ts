/** The service as `npm start` runs it, embedded Postgres and all: stopped, killed as a whole, and started again on its folder. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { gone } from '../../src/executor/fixtures/attempts.ts'
import { type Chaos, openChaos } from '../support/chaos.ts'
import { getRun, postRun, runEnds } from '../support/http.ts'
import { killAllIn, openPlace, type Place, processesIn, stopped } from '../support/processes.ts'
import { until } from '../support/until.ts'

let place: Place
beforeAll(async () => {
  place = await openPlace({ HOLDFAST_LEASE_SECONDS: '2' })
})
afterAll(() => place.close())

it('a second start on the same folder continues where it was, also after everything was killed at once', async () => {
  const first = await place.startAll()
  const done = await postRun(first.url, 'adds', { n: 1 })
  const before = await runEnds(first.url, done.run.run_id)
  const { status, run: accepted } = await postRun(first.url, 'waits', { folder: place.folder, go: 'never' })
  expect(status).toBe(201)
  await place.marked(accepted.run_id, 1, 'begun')

  const killed = killAllIn(place.folder)
  expect(killed.length).toBeGreaterThan(5)
  await until(() => processesIn(place.folder).length === 0, { what: 'everything is gone' })

  const second = await place.startAll()
  expect(await getRun(second.url, done.run.run_id)).toEqual(before)
  const run = await runEnds(second.url, accepted.run_id)
  expect(run).toMatchObject({ status: 'SUCCEEDED', attempt_count: 2 })
  expect(run.attempts?.map(({ state }) => state)).toEqual(['LOST', 'SUCCEEDED'])

  expect(await stopped(second)).toEqual([0])
  await until(() => processesIn(place.folder).length === 0, { what: 'nothing is left of an orderly stop' })
  const third = await place.startAll()
  expect((await getRun(third.url, accepted.run_id)).status).toBe('SUCCEEDED')
  await stopped(third)
}, 60_000)

it('when only the main process is killed the rest ends by itself, and the next start finishes the runs', async () => {
  const quick = { HOLDFAST_SHUTDOWN_GRACE_SECONDS: '0.2' }
  const first = await place.startAll(quick)
  const { run } = await postRun(first.url, 'waits', { folder: place.folder, go: 'never' })
  const work = await place.marked(run.run_id, 1, 'begun')
  const before = processesIn(place.folder).map((line) => Number.parseInt(line, 10))
  first.kill('SIGKILL')
  await first.exited
  const second = await place.startAll(quick)
  expect(await runEnds(second.url, run.run_id)).toMatchObject({ status: 'SUCCEEDED', attempt_count: 2 })
  await gone([work.pid, ...before], 20_000)
  await stopped(second)
}, 60_000)

it('a worker process that dies is replaced', async () => {
  const service = await place.startAll({ HOLDFAST_DATA_DIR: 'other-data', HOLDFAST_ARTIFACTS_DIR: 'other-artifacts' })
  const poison = await postRun(service.url, 'kills-its-process', { folder: place.folder })
  const run = await runEnds(service.url, poison.run.run_id)
  expect(run).toMatchObject({ status: 'FAILED', attempt_count: 3 })
  const good = await postRun(service.url, 'adds', { n: 2 })
  const after = await runEnds(service.url, good.run.run_id)
  expect(after.status).toBe('SUCCEEDED')
  await stopped(service)
}, 60_000)

it('an API killed between commit and wake-up loses nothing: the run starts within a poll interval', async () => {
  const chaos: Chaos = await openChaos({ HOLDFAST_POLL_SECONDS: '0.5' })
  const worker = await chaos.place.startWorker()
  const script = new URL('../fixtures/api-dies-at-hint.ts', import.meta.url)
  const api = chaos.place.runScript(script, [chaos.api.db.url])
  const { url } = await api.says('listening')
  await expect(postRun(String(url), 'adds', { n: 3 })).rejects.toThrow()
  expect(await api.exited).toMatchObject({ signal: 'SIGKILL' })
  const [row] = await chaos.api.db.query<{ id: string }>('SELECT id FROM model_runs')
  const run = await chaos.reaches(row!.id, 'SUCCEEDED')
  // The interval and its jitter, and room for a busy machine.
  expect(run.startedAt!.getTime() - run.createdAt.getTime()).toBeLessThan(0.5 * 1.25 * 1_000 + 1_000)
  await stopped(worker)
  await chaos.close()
})
