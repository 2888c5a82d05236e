/** The Ray executor and its job program on a real cluster. */

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { RayExecutor, type RayOptions } from '../../src/executor/ray.ts'
import { RayClient } from '../../src/executor/ray-client.ts'
import { sweepRayJobs } from '../../src/executor/ray-sweep.ts'
import type { ModelDefinition } from '../../src/run/definition.ts'
import { EngineAttempt, ended, type LeaseService, startLeaseService } from '../support/lease-service.ts'
import { loses, type ScriptedServer, scriptedServer } from '../support/scripted-http.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { until } from '../support/until.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { isRunning } from './is-running.ts'

const MODELS = fileURLToPath(new URL('./models', import.meta.url))
const TIMINGS = { pollMs: 500, lostAfterMs: 3_000, doubtMs: 3_000, timeoutGraceMs: 8_000 }

let cluster: Cluster
let service: LeaseService

beforeAll(async () => {
  cluster = await openCluster()
  service = await startLeaseService()
})
afterAll(async () => {
  await service?.close()
  await cluster?.close()
})

function python(callable: string): Partial<ModelDefinition> {
  return {
    python: { callable: `ray_models:${callable}`, folder: MODELS },
    ray: { cpus: 0, runtimeEnv: { env_vars: { HOLDFAST_RAY_TELL_SECONDS: '2' } } },
  }
}

function executorFor(definition: Partial<ModelDefinition>, changes: Partial<RayOptions> = {}): RayExecutor {
  const executor = new RayExecutor({
    clusters: new Map([['default', new RayClient({ address: cluster.address })]]),
    definitionOf: () => definition as ModelDefinition,
    serviceUrl: service.url,
    installation: 'test',
    timings: TIMINGS,
    jobsMax: 4,
    ...changes,
  })
  onTestFinished(() => executor.stop())
  return executor
}

async function started(definition: Partial<ModelDefinition>, parameters: object, changes: Partial<RayOptions> = {}) {
  const executor = executorFor(definition, changes)
  const attempt = service.attempt({ runId: randomUUID(), parameters })
  const handle = await executor.submit(attempt.input, attempt.reports)
  const id = `run-${attempt.input.runId}-a1`
  return { executor, attempt, handle, id, outcome: executor.watch(handle) }
}

/** A job that has started and waits for the file `go`. */
async function waiting(changes: Partial<RayOptions> = {}) {
  const { path: folder, remove } = await tempFolder()
  onTestFinished(remove)
  const parts = await started(python('wait'), { folder }, changes)
  const startsOf = () => readFileSync(join(folder, 'starts'), 'utf8').trim().split('\n')
  await until(() => existsSync(join(folder, 'starts')) && startsOf()[0], { what: 'the job runs', timeoutMs: 60_000 })
  await until(() => parts.attempt.alives.length > 0, { what: 'it is seen running' })
  return { ...parts, folder, startsOf, go: () => writeFileSync(join(folder, 'go'), '') }
}

describe('a Python callable', () => {
  it('brings its result back, with its output', async () => {
    const { attempt, outcome } = await started(python('add'), { numbers: [1, 2, 3] })
    expect(await ended(outcome)).toEqual({ status: 'succeeded', resultText: expect.stringContaining('"sum":6') })
    expect(attempt.output).toContain('adding 3 numbers')
    expect(attempt.starts).toBe(1)
  })

  it('fails with its class, its message and its traceback', async () => {
    const { outcome } = await started(python('fail'), { what: 'apples' })
    const end = await ended(outcome)
    expect(end).toMatchObject({ status: 'failed', error: { class: 'ValueError', message: 'cannot add apples' } })
    const stack = end.status === 'failed' ? end.error.stack : ''
    expect(stack).toContain('in fail')
    expect(stack).not.toContain('holdfast_ray_job')
  })

  it('says that trying again cannot help', async () => {
    const { outcome } = await started(python('fail_for_good'), {})
    expect(await ended(outcome)).toMatchObject({ error: { class: 'Fatal', retryable: false } })
  })

  it('fails clearly when it does not exist', async () => {
    const { outcome } = await started(python('nothing_there'), {})
    expect(await ended(outcome)).toMatchObject({ error: { class: 'AttributeError' } })
  })

  it('may use the cluster itself', async () => {
    const { outcome } = await started(python('on_the_cluster'), { numbers: [2, 3] })
    expect(await ended(outcome)).toEqual({ status: 'succeeded', resultText: '{"squares":[4,9]}' })
  })
})

describe('a command', () => {
  const command = { argv: ['python3', 'echo.py'], folder: MODELS, env: { GREETING: 'hello' } }

  it('runs under the contract of commands', async () => {
    const { attempt, outcome } = await started({ command }, { a: [1, 'é'] })
    expect(await ended(outcome)).toEqual({
      status: 'succeeded',
      resultText: '{"echo":{"a":[1,"é"]},"greeting":"hello","seed":7}',
    })
    expect(attempt.output).toContain('a line of output\n')
  })

  it('fails by its exit code, and for good by a fatal one', async () => {
    const usual = await started({ command }, { exit: 3 })
    const fatal = await started({ command }, { exit: 65 })
    expect(await ended(usual.outcome)).toMatchObject({ error: { class: 'CommandFailed', exitCode: 3 } })
    expect(await ended(fatal.outcome)).toMatchObject({ error: { retryable: false, exitCode: 65 } })
  })
})

describe('the ends of a job', () => {
  it('a cancel is confirmed when the processes are gone', async () => {
    const { executor, handle, outcome, startsOf } = await waiting()
    const pids = startsOf()[0]!.split(' ').map(Number)
    expect(pids.map(isRunning)).toEqual([true, true])
    await executor.cancel(handle, 'cancelled')
    expect(pids.map(isRunning)).toEqual([false, false])
    expect(await outcome).toEqual({ status: 'cancelled' })
  })

  it('a timeout ends it', async () => {
    const executor = executorFor(python('wait'))
    const { path: folder, remove } = await tempFolder()
    onTestFinished(remove)
    const attempt = service.attempt({ runId: randomUUID(), parameters: { folder }, timeoutMs: 6_000 })
    const handle = await executor.submit(attempt.input, attempt.reports)
    expect(await ended(executor.watch(handle))).toMatchObject({ status: 'failed', error: { class: 'Timeout' } })
    const job = await cluster.client.job(`run-${attempt.input.runId}-a1`)
    expect(job?.status).toBe('STOPPED')
  })

  it('a job whose attempt is over ends itself', async () => {
    const { attempt, handle, executor, id, startsOf } = await waiting()
    await executor.cancel(handle, 'lease-lost')
    attempt.isOver = true
    await until(
      () =>
        startsOf()[0]!
          .split(' ')
          .map(Number)
          .every((pid) => !isRunning(pid)) || null,
      {
        what: 'its processes are gone',
        timeoutMs: 30_000,
      },
    )
    await until(async () => (await cluster.client.job(id))?.status === 'FAILED', { what: 'Ray knows it' })
  })

  it('an outcome that cannot be told is found in the log', async () => {
    // The job finds the service at its start and not at its end.
    const { attempt, outcome, go } = await waiting()
    service.isReachable = false
    onTestFinished(() => {
      service.isReachable = true
    })
    go()
    expect(await ended(outcome, 110_000)).toEqual({ status: 'succeeded', resultText: '{"waited":true}' })
    expect(attempt.said).toBeNull()
    expect(attempt.output).not.toContain('HOLDFAST-OUTCOME')
  })
})

describe('faults', () => {
  /** Passes requests on to the cluster, and loses the reply to the first submit. */
  async function losingProxy(): Promise<ScriptedServer> {
    const proxy = await scriptedServer()
    let isLost = false
    proxy.otherwise(async (seen, response) => {
      const { method, path, text } = seen
      const headers = { 'content-type': 'application/json', 'user-agent': 'proxy' }
      const { request } = await import('node:http')
      const onward = request(cluster.address + path, { method, headers }, (reply) => {
        if (method === 'POST' && path === '/api/jobs/' && !isLost) {
          isLost = true
          reply.resume()
          return loses()(seen, response)
        }
        response.writeHead(reply.statusCode ?? 500)
        reply.pipe(response)
      })
      onward.end(text)
    })
    return proxy
  }

  it('a lost reply to a submit makes no second job', async () => {
    const proxy = await losingProxy()
    const clusters = new Map([['default', new RayClient({ address: proxy.url })]])
    const { attempt, id, outcome } = await started(python('add'), { numbers: [4] }, { clusters })
    expect(await ended(outcome)).toMatchObject({ status: 'succeeded' })
    expect(proxy.seen.filter(({ method, path }) => method === 'POST' && path === '/api/jobs/')).toHaveLength(1)
    const jobs = await cluster.client.jobs()
    expect(jobs.filter(({ submission_id }) => submission_id === id)).toHaveLength(1)
    expect(attempt.starts).toBe(1)
  })

  it('another worker goes on with the job, which is started once', async () => {
    const { executor, attempt, go, startsOf } = await waiting()
    await executor.stop()
    const second = executorFor(python('wait'))
    const successor = new EngineAttempt(attempt.input)
    const handle = await second.adopt(attempt.input, attempt.alives[0]!, {
      ...successor.reports,
      engine: attempt.reports.engine!,
    })
    go()
    expect(await ended(second.watch(handle))).toEqual({ status: 'succeeded', resultText: '{"waited":true}' })
    expect(startsOf()).toHaveLength(1)
    expect(attempt.starts).toBe(1)
  })

  it('orphans are swept, and others left alone', async () => {
    const orphan = await waiting()
    const wanted = await waiting()
    const foreign = await waiting({ installation: 'another service' })
    await sweepRayJobs({
      clusters: new Map([['default', cluster.client]]),
      installation: 'test',
      isCurrent: async ({ runId }) => runId === wanted.attempt.input.runId,
    })
    await until(async () => (await cluster.client.job(orphan.id))?.status === 'STOPPED', { what: 'the orphan stops' })
    for (const { id, go } of [wanted, foreign]) {
      expect((await cluster.client.job(id))?.status).toBe('RUNNING')
      go()
    }
  })
})
