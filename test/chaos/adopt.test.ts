/** Work that an engine has outlives its worker: whoever takes the lease goes on with the same job, which is started once. */

import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { model } from '../../src/model/model.ts'
import type { JobOutcome } from '../../src/store/ports/attempts.ts'
import { FakeEngine, FakeEngineExecutor, type FakeJob } from '../support/fake-engine.ts'
import { checkHistory } from '../support/history.ts'
import { type House, openHouse, type WorkerOptions } from '../support/house.ts'
import { until } from '../support/until.ts'

const far = model({ name: 'far', version: '1', executor: 'inline', parameters: z.object({}), run: async () => 1 })
const NEVER_BEATS = new URL('../fixtures/scripted-heartbeat.js', import.meta.url)
const RESULT = { status: 'succeeded', resultText: '{"n":1}' } as const

let house: House
let engine: FakeEngine
beforeEach(async () => {
  house = await openHouse([far])
  engine = new FakeEngine()
})
afterEach(async () => {
  const { violations } = await checkHistory(house.api.db.pool)
  await house.close()
  expect(violations).toEqual([])
})

async function startWorker(options: WorkerOptions = {}) {
  const executor = new FakeEngineExecutor(engine)
  return { executor, ...(await house.startWorker({ executors: [executor], ...options })) }
}

/** As good as dead: its leases are never renewed. */
const startDying = () =>
  startWorker({
    heartbeatThread: { url: NEVER_BEATS, data: { channel: randomUUID() } },
    settings: { janitorMs: 60_000 },
  })

const started = (): Promise<FakeJob> => until(() => engine.only, { what: 'the job has started' })

it('a worker dies while its job runs: another adopts the job, which is not started again', async () => {
  await startDying()
  const runId = await house.submit('far')
  const job = await started()
  const { executor, worker } = await startWorker({ settings: { concurrency: 1 } })
  await until(() => executor.adopted.length > 0, { what: 'the job is adopted' })
  expect(executor.adopted[0]!.ref).toMatchObject({ started: true })
  job.ended.resolve(RESULT)
  const run = await house.reaches(runId, 'SUCCEEDED')
  expect(run).toMatchObject({ attemptCount: 1, reclaimCount: 0, leaseEpoch: 2 })
  expect([job.starts, job.stops]).toEqual([1, 0])
  expect(await house.attemptStates(runId)).toEqual(['SUCCEEDED'])
  const events = await house.events(runId)
  expect(events.filter((type) => type !== 'late_result_discarded')).toEqual([
    'created',
    'started',
    'submitted',
    'running',
    'adopted',
    'succeeded',
  ])
  expect((await house.read(runId)).attempts[0]!.workerId).toBe(worker.id)
})

it('a worker dies between the hand-over and its question to the engine: the adopter starts the job, once', async () => {
  const { executor: dying } = await startDying()
  dying.afterHandOver = () => new Promise(() => {})
  const runId = await house.submit('far')
  await until(async () => (await house.events(runId)).includes('submitted'), { what: 'the attempt is handed over' })
  expect(engine.jobs.size).toBe(0)
  await startWorker()
  const job = await started()
  job.ended.resolve(RESULT)
  expect(await house.reaches(runId, 'SUCCEEDED')).toMatchObject({ attemptCount: 1 })
  expect(job.starts).toBe(1)
})

it('a worker that stops leaves its job alone, and another adopts it at once', async () => {
  const leaseMs = 600_000
  const { worker } = await startWorker({ settings: { leaseMs, shutdownGraceMs: 60_000 } })
  const runId = await house.submit('far')
  const job = await started()
  await worker.stop()
  expect(await house.attemptStates(runId)).toEqual(['RUNNING'])
  const { executor } = await startWorker({ settings: { leaseMs } })
  await until(() => executor.adopted.length > 0, { what: 'the job is adopted' })
  expect(job.stops).toBe(0)
  job.ended.resolve(RESULT)
  expect(await house.reaches(runId, 'SUCCEEDED')).toMatchObject({ attemptCount: 1, releaseCount: 0 })
})

it('what a job says while nobody holds its lease is settled by who adopts it, even if the engine is away', async () => {
  const { worker } = await startWorker()
  const runId = await house.submit('far')
  const { ticket } = await started()
  await worker.stop()
  await say(runId, ticket, { ok: true, result_text: '{"said":true}' })
  engine.isAway = true
  await startWorker()
  await house.reaches(runId, 'SUCCEEDED')
  expect(await house.resultOf(runId)).toEqual({ said: true })
})

it('an engine that cannot tell ends nothing: the lease is held until it answers', async () => {
  const { executor } = await startWorker()
  engine.isAway = true
  const runId = await house.submit('far')
  const job = await started()
  await until(() => executor.adopted.length > 0, { what: 'the job is asked for again' })
  engine.isAway = false
  job.ended.resolve(RESULT)
  expect(await house.reaches(runId, 'SUCCEEDED')).toMatchObject({ attemptCount: 1, leaseEpoch: 1 })
})

it('a job that is gone for good is a lost attempt, and the run starts again', async () => {
  await startWorker({ executors: ['inline', 'process'].map((name) => new FakeEngineExecutor(engine, name)) })
  const runId = await house.submit('far')
  const job = await started()
  job.ended.resolve({ status: 'lost', reason: 'the cluster was started anew' })
  const again = await until(() => [...engine.jobs.values()][1], { what: 'the second job has started' })
  again.ended.resolve(RESULT)
  await house.reaches(runId, 'SUCCEEDED')
  expect(await house.attemptStates(runId)).toEqual(['LOST', 'SUCCEEDED'])
  expect((await house.read(runId)).attempts[0]!.error).toMatchObject({ class: 'JobLost' })
  expect(await house.events(runId)).toContain('lost')
})

it('a cancel that was asked for while nobody listened stops the adopted job', async () => {
  const { worker } = await startWorker()
  const runId = await house.submit('far')
  const job = await started()
  await worker.stop()
  await house.api.store.cancel(runId)
  await startWorker()
  await house.reaches(runId, 'CANCELLED')
  expect(job.stops).toBe(1)
  expect(await house.attemptStates(runId)).toEqual(['CANCELLED'])
})

it('what nobody adopts in time is taken back, and what its job says then is refused', async () => {
  const { worker } = await startWorker()
  const runId = await house.submit('far')
  const { ticket } = await started()
  const token = await trade(runId, ticket)
  await worker.stop()
  // A worker without the engine takes it back, and cannot start it either.
  const other = new FakeEngineExecutor(engine, 'other')
  await house.startWorker({ executors: [other], settings: { adoptMs: 10 } })
  await until(async () => (await house.attemptStates(runId))[0] === 'LOST', { what: 'the run is taken back' })
  const late: JobOutcome = { ok: true, result_text: '1' }
  expect(await house.api.store.attempts.keepJobOutcome(runId, token, late)).toBe(false)
})

it('an engine takes no more attempts than it has room for', async () => {
  const executor = new FakeEngineExecutor(engine)
  executor.jobsMax = 2
  const runIds = await Promise.all(Array.from({ length: 6 }, () => house.submit('far')))
  await house.startWorker({ executors: [executor], settings: { concurrency: 10 } })
  let most = 0
  const ended = new Set<FakeJob>()
  await until(
    async () => {
      const open = [...engine.jobs.values()].filter((job) => !ended.has(job))
      most = Math.max(most, (await house.api.db.query(`SELECT FROM model_runs WHERE status = 'RUNNING'`)).length)
      for (const job of open) {
        ended.add(job)
        job.ended.resolve(RESULT)
      }
      return ended.size === runIds.length
    },
    { what: 'all jobs have run' },
  )
  await Promise.all(runIds.map((runId) => house.reaches(runId, 'SUCCEEDED')))
  expect(most).toBeLessThanOrEqual(2)
})

async function trade(runId: string, ticket: string): Promise<Buffer> {
  const token = randomBytes(32)
  const ticketHash = createHash('sha256').update(ticket).digest()
  expect(await house.api.store.attempts.redeemTicket(runId, ticketHash, token)).not.toBeNull()
  return token
}

async function say(runId: string, ticket: string, outcome: JobOutcome): Promise<void> {
  expect(await house.api.store.attempts.keepJobOutcome(runId, await trade(runId, ticket), outcome)).toBe(true)
}
