/** The Ray executor against a job server that the test plays. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EngineAttempt, ended } from '../../test/support/lease-service.ts'
import { act, type RayStub, rayStub } from '../../test/support/ray-stub.ts'
import { answers, loses, saysNothing } from '../../test/support/scripted-http.ts'
import { until } from '../../test/support/until.ts'
import type { ModelDefinition } from '../run/definition.ts'
import type { AttemptInput, Handle } from './executor.ts'
import { RayExecutor, type RayOptions } from './ray.ts'
import { RayClient } from './ray-client.ts'
import { ENTRYPOINT } from './ray-spec.ts'

const DEFINITION = { python: { callable: 'model:run' }, ray: { cpus: 1, runtimeEnv: { pip: ['numpy'] } } }
const TIMINGS = { pollMs: 20, lostAfterMs: 300, doubtMs: 200, timeoutGraceMs: 1_000 }

function inputOf(changes: Partial<AttemptInput> = {}): AttemptInput {
  const fixed = {
    attempt: 1,
    model: 'monte',
    modelVersion: '1',
    parameters: { secret_key: 'x' },
    seed: 1,
    timeoutMs: 60_000,
  }
  return { runId: randomUUID(), ...fixed, ...changes }
}

function executorOn(
  stub: RayStub,
  changes: Partial<RayOptions> = {},
  client: { token?: () => string } = {},
): RayExecutor {
  const executor = new RayExecutor({
    clusters: new Map([['default', new RayClient({ address: stub.url, timeoutMs: 100, ...client })]]),
    definitionOf: () => DEFINITION as Partial<ModelDefinition> as ModelDefinition,
    serviceUrl: 'http://service.example',
    installation: 'here',
    timings: TIMINGS,
    jobsMax: 2,
    ...changes,
  })
  onTestFinished(() => executor.stop())
  return executor
}

async function submitted(stub: RayStub, executor = executorOn(stub), changes: Partial<AttemptInput> = {}) {
  const attempt = new EngineAttempt(inputOf(changes))
  const id = `run-${attempt.input.runId}-a1`
  const handle = await executor.submit(attempt.input, attempt.reports)
  return { attempt, handle, id, executor, outcome: executor.watch(handle) }
}

async function running(stub: RayStub, executor?: RayExecutor, changes?: Partial<AttemptInput>) {
  const parts = await submitted(stub, executor, changes)
  await until(() => parts.attempt.alives.length > 0, { what: 'the job is seen running' })
  return parts
}

describe('placing a job', () => {
  it('notes the attempt before Ray hears of it', async () => {
    const stub = await rayStub()
    const attempt = new EngineAttempt(inputOf())
    let seenBefore = -1
    attempt.beforeHandOver = () => {
      seenBefore = stub.seen.length
    }
    await executorOn(stub).submit(attempt.input, attempt.reports)
    expect(seenBefore).toBe(0)
    expect(attempt.handOvers).toEqual([{ cluster: 'default', submission_id: `run-${attempt.input.runId}-a1` }])
  })

  it('asks Ray for nothing when the lease is lost by then', async () => {
    const stub = await rayStub()
    const attempt = new EngineAttempt(inputOf())
    attempt.beforeHandOver = () => {
      throw new Error('lease lost')
    }
    await expect(executorOn(stub).submit(attempt.input, attempt.reports)).rejects.toThrow('lease lost')
    expect(stub.seen).toEqual([])
  })

  it('sends a constant shell line, the resources and the runtime environment, and no parameter', async () => {
    const stub = await rayStub()
    const { id } = await running(stub)
    const [submission] = stub.submits
    expect(submission).toMatchObject({
      entrypoint: ENTRYPOINT,
      submission_id: id,
      entrypoint_num_cpus: 1,
      runtime_env: { pip: ['numpy'], env_vars: { HOLDFAST_URL: 'http://service.example', HOLDFAST_ATTEMPT: '1' } },
      metadata: { holdfast: 'here', model: 'monte', attempt: '1' },
    })
    expect(JSON.stringify(submission)).not.toContain('secret_key')
  })

  it('finds the job when the reply was lost, and makes no second one', async () => {
    const stub = await rayStub()
    stub.plan(loses((seen) => void act(stub, seen)))
    await running(stub)
    expect(stub.submits).toHaveLength(1)
  })

  it('finds the job when the reply never came', async () => {
    const stub = await rayStub()
    stub.plan((seen) => void act(stub, seen))
    await running(stub)
    expect(stub.submits).toHaveLength(1)
  })

  it('submits again when the request never arrived', async () => {
    const stub = await rayStub()
    stub.plan(loses())
    await running(stub)
    expect(stub.submits).toHaveLength(1)
    expect(stub.count('POST /api/jobs/')).toBe(2)
  })

  it('goes on with a job that exists already', async () => {
    const stub = await rayStub()
    stub.plan(answers(500, 'ValueError: Job with submission_id X already exists.'))
    const attempt = new EngineAttempt(inputOf())
    const id = `run-${attempt.input.runId}-a1`
    act(stub, { method: 'POST', path: '/api/jobs/', headers: {}, text: '', json: () => ({ submission_id: id }) })
    await executorOn(stub).submit(attempt.input, attempt.reports)
    await until(() => attempt.alives.length > 0, { what: 'the job is found' })
    expect(stub.count('POST /api/jobs/')).toBe(1)
  })

  it('fails for good what Ray refuses', async () => {
    const stub = await rayStub()
    stub.plan(answers(400, 'TypeError: got an unexpected keyword argument'))
    const { outcome } = await submitted(stub)
    expect(await ended(outcome)).toMatchObject({
      status: 'failed',
      error: { class: 'RayRefused', retryable: false, message: expect.stringContaining('unexpected keyword') },
    })
  })

  it('waits for a cluster that is away, and gives up in the end', async () => {
    const stub = await rayStub()
    stub.down = answers(503, 'away')
    const { outcome } = await submitted(stub, executorOn(stub, { timings: { ...TIMINGS, lostAfterMs: 1_000 } }))
    expect(await ended(outcome)).toMatchObject({ status: 'lost' })
    expect(stub.count('POST /api/jobs/')).toBeGreaterThanOrEqual(1)
  })

  it('never submits before a question about the job is answered', async () => {
    const stub = await rayStub()
    stub.plan(
      loses((seen) => void act(stub, seen)),
      saysNothing,
      answers(500, 'no agent'),
    )
    await running(stub)
    expect(stub.submits).toHaveLength(1)
  })

  it('names the clusters there are when a model asks for another', async () => {
    const stub = await rayStub()
    const definitionOf = () =>
      ({ ...DEFINITION, ray: { cluster: 'gpu' } }) as Partial<ModelDefinition> as ModelDefinition
    await expect(submitted(stub, executorOn(stub, { definitionOf }))).rejects.toThrow('no Ray cluster named gpu')
  })

  it('presents the token, and fails with what Ray says when it is wrong', async () => {
    const stub = await rayStub()
    stub.token = 'good'
    await running(stub, executorOn(stub, {}, { token: () => 'good' }))
    const { outcome } = await submitted(stub, executorOn(stub, {}, { token: () => 'bad' }))
    expect(await ended(outcome)).toMatchObject({ status: 'failed', error: { class: 'RayRefused' } })
  })

  it('has room for as many jobs as it may have', async () => {
    const stub = await rayStub()
    const executor = executorOn(stub)
    expect(executor.room()).toBe(2)
    const { attempt, outcome } = await running(stub, executor)
    expect(executor.room()).toBe(1)
    attempt.say({ status: 'succeeded', resultText: '1' })
    await ended(outcome)
    expect(executor.room()).toBe(2)
  })
})

describe('following a job', () => {
  it('takes what the job said as the truth, whatever Ray says', async () => {
    const stub = await rayStub()
    const { attempt, id, outcome } = await running(stub)
    attempt.said = { status: 'succeeded', resultText: '{"a":1}' }
    stub.change(id, { status: 'FAILED', error_type: 'JOB_SUPERVISOR_ACTOR_DIED' })
    expect(await ended(outcome)).toEqual({ status: 'succeeded', resultText: '{"a":1}' })
  })

  it('fails an attempt that ended well and said nothing', async () => {
    const stub = await rayStub()
    const { id, outcome } = await running(stub)
    stub.change(id, { status: 'SUCCEEDED', driver_exit_code: 0 })
    expect(await ended(outcome)).toMatchObject({ status: 'failed', error: { class: 'NoOutcome' } })
  })

  it('is the failure of the program when its exit code says so', async () => {
    const stub = await rayStub()
    const { id, outcome } = await running(stub)
    const error_type = 'JOB_ENTRYPOINT_COMMAND_ERROR'
    stub.change(id, { status: 'FAILED', error_type, driver_exit_code: 7, message: 'it broke' })
    expect(await ended(outcome)).toMatchObject({ status: 'failed', error: { class: 'RayJobFailed', exitCode: 7 } })
  })

  it('waits for word from a job that Ray lost sight of, and goes on when it is seen again', async () => {
    const stub = await rayStub()
    const { attempt, id, outcome } = await running(stub, executorOn(stub, { timings: { ...TIMINGS, doubtMs: 60_000 } }))
    stub.change(id, { status: 'FAILED', error_type: 'JOB_SUPERVISOR_ACTOR_DIED' })
    const before = stub.seen.length
    await until(() => stub.seen.length > before + 5, { what: 'it is looked at again' })
    stub.change(id, { status: 'RUNNING', error_type: null })
    attempt.say({ status: 'succeeded', resultText: '2' })
    expect(await ended(outcome)).toEqual({ status: 'succeeded', resultText: '2' })
    expect(stub.stops).toEqual([])
  })

  it('is lost, and stopped, when no word comes', async () => {
    const stub = await rayStub()
    const { id, outcome } = await running(stub)
    stub.change(id, { status: 'FAILED', error_type: 'JOB_SUPERVISOR_ACTOR_UNKNOWN_FAILURE' })
    expect(await ended(outcome)).toMatchObject({ status: 'lost', reason: expect.stringContaining('UNKNOWN_FAILURE') })
    await until(() => stub.stops.length > 0, { what: 'the job is asked to stop' })
  })

  it('does not fail while the cluster hangs, resets or talks nonsense', async () => {
    const stub = await rayStub()
    const { attempt, outcome } = await running(stub)
    for (const down of [
      saysNothing,
      loses(),
      answers(200, '<html>'),
      answers(200, { status: 'DANCING' }),
      answers(500),
    ]) {
      stub.down = down
      const before = stub.seen.length
      await until(() => stub.seen.length > before + 1, { what: 'it asks again' })
    }
    stub.down = null
    attempt.say({ status: 'succeeded', resultText: '3' })
    expect(await ended(outcome)).toEqual({ status: 'succeeded', resultText: '3' })
  })

  it('is lost after the window when the cluster was started anew', async () => {
    const stub = await rayStub()
    const { outcome } = await running(stub)
    stub.jobs.clear()
    stub.session = 'session_2'
    expect(await ended(outcome)).toEqual({
      status: 'lost',
      reason: 'the cluster was started anew and does not know the job',
    })
  })

  it('goes on when the job comes back within the window', async () => {
    const stub = await rayStub()
    const { id, attempt, outcome } = await running(
      stub,
      executorOn(stub, { timings: { ...TIMINGS, lostAfterMs: 60_000 } }),
    )
    const job = stub.jobs.get(id)!
    stub.jobs.clear()
    const before = stub.seen.length
    await until(() => stub.seen.length > before + 3, { what: 'it is missed' })
    stub.jobs.set(id, job)
    attempt.say({ status: 'succeeded', resultText: '4' })
    expect(await ended(outcome)).toMatchObject({ status: 'succeeded' })
  })

  it('hands the log on as it grows, without repeating any', async () => {
    const stub = await rayStub()
    const { id, attempt, outcome } = await running(stub)
    stub.change(id, { logs: 'one\ntw' })
    await until(() => attempt.output !== '', { what: 'the first line' })
    expect(attempt.output).toBe('one\n')
    stub.change(id, { logs: 'one\ntwo é\n', status: 'SUCCEEDED' })
    await ended(outcome)
    expect(attempt.output).toBe('one\ntwo é\n')
  })
})

describe('stopping a job', () => {
  it('is confirmed only when Ray says that it is over', async () => {
    const stub = await rayStub()
    const { id, handle, outcome, executor } = await running(stub)
    stub.onStop = () => {}
    let confirmed = false
    const cancelled = executor.cancel(handle, 'cancelled').then(() => {
      confirmed = true
    })
    await until(() => stub.stops.length > 0, { what: 'the stop' })
    const before = stub.seen.length
    await until(() => stub.seen.length > before + 3, { what: 'it looks again' })
    expect(confirmed).toBe(false)
    stub.change(id, { status: 'STOPPED' })
    await cancelled
    expect(await outcome).toEqual({ status: 'cancelled' })
  })

  it('asks again while the job has no supervisor yet', async () => {
    const stub = await rayStub()
    const { id, handle, executor } = await running(stub)
    stub.change(id, { status: 'PENDING' })
    stub.onStop = (job) => {
      if (stub.stops.length === 3) job.status = 'STOPPED'
    }
    await executor.cancel(handle, 'cancelled')
    expect(stub.stops).toHaveLength(3)
  })

  it('lets a success stand that came first', async () => {
    const stub = await rayStub()
    const { attempt, handle, outcome, executor } = await running(stub)
    stub.onStop = (job) => {
      attempt.said = { status: 'succeeded', resultText: '5' }
      job.status = 'STOPPED'
    }
    await executor.cancel(handle, 'cancelled')
    expect(await outcome).toEqual({ status: 'succeeded', resultText: '5' })
  })

  it('notes what a job that was stopped said it cost', async () => {
    const stub = await rayStub()
    const { attempt, handle, outcome, executor } = await running(stub)
    stub.onStop = (job) => {
      attempt.said = { status: 'failed', error: { class: 'Cancelled', message: 'm', stack: null }, cost: 1.5 }
      job.status = 'STOPPED'
    }
    await executor.cancel(handle, 'cancelled')
    expect([await outcome, attempt.costs]).toEqual([{ status: 'cancelled' }, [1.5]])
  })

  it('stops a job whose time is over', async () => {
    const stub = await rayStub()
    const { outcome } = await submitted(stub, undefined, { timeoutMs: 300 })
    expect(await ended(outcome)).toMatchObject({ status: 'failed', error: { class: 'Timeout' } })
    expect(stub.stops).toHaveLength(1)
  })

  it.each(['lease-lost', 'shutdown'] as const)(
    'leaves the job alone when the worker lets go of it: %s',
    async (reason) => {
      const stub = await rayStub()
      const { handle, outcome, executor } = await running(stub)
      await executor.cancel(handle, reason)
      expect(await outcome).toMatchObject({ status: 'unreachable' })
      expect(stub.stops).toEqual([])
    },
  )
})

describe('adopting a job', () => {
  async function adopted(
    stub: RayStub,
    attempt: EngineAttempt,
    ref = {},
  ): Promise<{ handle: Handle; executor: RayExecutor }> {
    const executor = executorOn(stub)
    const handle = await executor.adopt(attempt.input, { cluster: 'default', ...ref }, attempt.reports)
    return { handle, executor }
  }

  it('goes on with the job and starts none', async () => {
    const stub = await rayStub()
    const first = await running(stub)
    await first.executor.stop()
    const attempt = new EngineAttempt(first.attempt.input)
    const { handle, executor } = await adopted(stub, attempt)
    attempt.say({ status: 'succeeded', resultText: '6' })
    expect(await ended(executor.watch(handle))).toEqual({ status: 'succeeded', resultText: '6' })
    expect(stub.submits).toHaveLength(1)
  })

  it('is lost when no job was ever placed', async () => {
    const stub = await rayStub()
    const { handle, executor } = await adopted(stub, new EngineAttempt(inputOf()))
    expect(await ended(executor.watch(handle))).toMatchObject({ status: 'lost' })
  })
})
