/** The integration tests the source documents name, on a real database: API and workers in this process, each its own. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { model } from '../../src/model/model.ts'
import { type House, openHouse } from '../support/house.ts'
import { until } from '../support/until.ts'

const NEVER_BEATS = { url: new URL('../fixtures/scripted-heartbeat.js', import.meta.url), data: { channel: 'unheard' } }
const anything = z.looseObject({})
const begun: { runId: string; attempt: number }[] = []
const held: ((result: string) => void)[] = []

const models = [
  model({
    name: 'doubles',
    executor: 'inline',
    parameters: z.object({ n: z.number() }),
    run: async ({ n }) => ({ twice: n * 2 }),
  }),
  model({
    name: 'fails-first',
    executor: 'inline',
    parameters: anything,
    run(_, ctx) {
      if (ctx.attempt === 1) throw new Error('not yet')
      return { attempt: ctx.attempt }
    },
  }),
  model({
    name: 'hangs-first',
    description: 'The first attempt waits for the test, whatever it is told.',
    executor: 'inline',
    parameters: anything,
    run(_, ctx) {
      begun.push({ runId: ctx.runId, attempt: ctx.attempt })
      if (ctx.attempt > 1) return 'the second holder'
      return new Promise<string>((resolve) => held.push(resolve))
    },
  }),
]

let house: House

beforeAll(async () => {
  house = await openHouse(models)
})
afterEach(() => {
  for (const release of held.splice(0)) release('released by the test')
})
afterAll(() => house.close())

describe('R375', () => {
  it('a run that is created is taken by a worker and ends SUCCEEDED with its result', async () => {
    await house.startWorker()
    const runId = await house.submit('doubles', { n: 21 })
    const run = await house.reaches(runId, 'SUCCEEDED')
    expect(run).toMatchObject({ attemptCount: 1, resultRef: 'inline', leaseOwner: null })
    expect((await house.api.get(`/runs/${runId}/result`)).json()).toEqual({ twice: 42 })
    expect(await house.events(runId)).toEqual(['created', 'started', 'succeeded'])
  })
})

describe('R377, R384', () => {
  it('a run that fails once is tried again and succeeds with attempt_count 2', async () => {
    await house.startWorker()
    const runId = await house.submit('fails-first')
    await house.reaches(runId, 'SUCCEEDED')
    const run = (await house.api.get(`/runs/${runId}`)).json()
    expect(run).toMatchObject({ status: 'SUCCEEDED', attempt_count: 2, last_error: { message: 'not yet', attempt: 1 } })
    expect(run.attempts.map((attempt: { state: string }) => attempt.state)).toEqual(['FAILED', 'SUCCEEDED'])
    expect(await house.events(runId)).toEqual(['created', 'started', 'retry_scheduled', 'started', 'succeeded'])
  })
})

describe('R376', () => {
  it('when a worker stops renewing, another takes the lease and the run ends SUCCEEDED', async () => {
    const own = await openHouse(models)
    const silent = await own.startWorker({ heartbeatThread: NEVER_BEATS, settings: { concurrency: 1 } })
    const runId = await own.submit('hangs-first')
    await until(() => begun.some((work) => work.runId === runId), { what: 'the first worker has begun' })
    const other = await own.startWorker()
    const run = await own.reaches(runId, 'SUCCEEDED')
    expect(run).toMatchObject({ attemptCount: 2, reclaimCount: 1 })
    const { attempts } = await own.read(runId)
    expect(attempts.map(({ state, workerId }) => [state, workerId])).toEqual([
      ['LOST', silent.worker.id],
      ['SUCCEEDED', other.worker.id],
    ])
    // The first holder comes back with a result of its own: it is too late, and recorded as that.
    for (const release of held.splice(0)) release('too late')
    await until(async () => (await own.events(runId)).includes('late_result_discarded'), { what: 'it is recorded' })
    expect((await own.api.get(`/runs/${runId}/result`)).json()).toBe('the second holder')
    await own.close()
  })
})

describe('R382', () => {
  it('of two workers and one run only one marks it RUNNING, and lease_owner names it', async () => {
    const own = await openHouse(models)
    const workers = await Promise.all([own.startWorker(), own.startWorker()])
    const runId = await own.submit('hangs-first')
    await until(() => begun.some((work) => work.runId === runId), { what: 'one worker has begun' })
    const running = (await own.api.get(`/runs/${runId}`)).json()
    expect(workers.map(({ worker }) => worker.id)).toContain(running.lease.owner)
    for (const release of held.splice(0)) release('done')
    await own.reaches(runId, 'SUCCEEDED')
    expect(begun.filter((work) => work.runId === runId)).toHaveLength(1)
    expect(await own.events(runId)).toEqual(['created', 'started', 'succeeded'])
    await own.close()
  })

  it('of two workers and many runs each run is executed once', async () => {
    const own = await openHouse(models)
    const workers = await Promise.all([own.startWorker(), own.startWorker()])
    const runIds = await Promise.all(Array.from({ length: 60 }, (_, n) => own.submit('doubles', { n })))
    await Promise.all(runIds.map((runId) => own.reaches(runId, 'SUCCEEDED')))
    const rows = await own.api.db.query<{ worker_id: string; attempt: number }>(
      'SELECT worker_id, attempt FROM run_attempts',
    )
    expect(rows.map(({ attempt }) => attempt)).toEqual(runIds.map(() => 1))
    expect(new Set(rows.map(({ worker_id }) => worker_id)).size).toBeLessThanOrEqual(workers.length)
    await own.close()
  })
})

describe('R385', () => {
  it('the logs show the whole life of a run under one run_id, and /healthz answers 200', async () => {
    const own = await openHouse(models)
    const { lines } = await own.startWorker()
    const runId = await own.submit('doubles', { n: 1 })
    await own.reaches(runId, 'SUCCEEDED')
    await until(() => lines.some(({ msg }) => msg === 'run succeeded'), { what: 'the end is logged' })
    const life = [...own.api.logLines, ...lines].filter(({ run_id }) => run_id === runId)
    expect(life.map(({ msg, status }) => [msg, status])).toEqual([
      ['run created', 'PENDING'],
      ['run started', 'RUNNING'],
      ['run succeeded', 'SUCCEEDED'],
    ])
    for (const line of life) {
      for (const field of ['payload_hash', 'worker_id', 'attempt_count', 'queue', 'executor']) {
        expect(line).toHaveProperty(field)
      }
    }
    expect((await own.api.get('/healthz')).statusCode).toBe(200)
    await own.close()
  })
})
