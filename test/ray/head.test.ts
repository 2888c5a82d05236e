/** What happens to attempts when the head of a Ray cluster dies, and when a cluster asks for a token. */

import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { RayExecutor } from '../../src/executor/ray.ts'
import { RayClient } from '../../src/executor/ray-client.ts'
import type { ModelDefinition } from '../../src/run/definition.ts'
import { ended, leaseService } from '../support/lease-service.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { until } from '../support/until.ts'
import { type Cluster, openCluster } from './cluster.ts'

const MODELS = fileURLToPath(new URL('./models', import.meta.url))
let cluster: Cluster | undefined
afterEach(() => cluster?.close())

function executorOn(address: string, callable: string, serviceUrl: string, token: string | null = null): RayExecutor {
  const definition = { python: { callable: `ray_models:${callable}`, folder: MODELS } }
  return new RayExecutor({
    clusters: new Map([['default', new RayClient({ address, token: () => token, timeoutMs: 3_000 })]]),
    definitionOf: () => definition as Partial<ModelDefinition> as ModelDefinition,
    serviceUrl,
    installation: 'test',
    timings: { pollMs: 500, lostAfterMs: 3_000, doubtMs: 3_000, timeoutGraceMs: 5_000 },
    jobsMax: 4,
  })
}

it('an attempt is lost when the head was killed, and the next one runs when it is back', async () => {
  cluster = await openCluster()
  const service = await leaseService()
  const { path: folder, remove } = await tempFolder()
  const executor = executorOn(cluster.address, 'wait', service.url)
  const attempt = service.attempt({ runId: randomUUID(), parameters: { folder } })
  const handle = await executor.submit(attempt.input, attempt.reports)
  await until(() => attempt.starts > 0 && attempt.alives.length > 0, { what: 'the job runs', timeoutMs: 60_000 })
  let over = false
  void executor.watch(handle).then(() => {
    over = true
  })
  await cluster.kill()
  // Away for longer than the window: unreachable is not lost.
  const silent = performance.now()
  await until(() => attempt.logged.length > 0 && performance.now() - silent > 4_000, { what: 'it is noticed' })
  expect(over).toBe(false)
  await cluster.start()
  expect(await ended(executor.watch(handle))).toEqual({
    status: 'lost',
    reason: 'the cluster was started anew and does not know the job',
  })
  const adder = executorOn(cluster.address, 'add', service.url)
  const next = service.attempt({ runId: attempt.input.runId, attempt: 2, parameters: { numbers: [1] } })
  const again = await adder.submit(next.input, next.reports)
  expect(await ended(adder.watch(again))).toMatchObject({ status: 'succeeded' })
  await Promise.all([executor.stop(), adder.stop(), remove()])
})

it('a cluster with tokens takes jobs from who has one', async () => {
  const token = 'a'.repeat(64)
  cluster = await openCluster({ RAY_AUTH_MODE: 'token', RAY_AUTH_TOKEN: token })
  const service = await leaseService()
  for (const [given, status] of [
    [token, 'succeeded'],
    ['b'.repeat(64), 'failed'],
  ] as const) {
    const executor = executorOn(cluster.address, 'add', service.url, given)
    const attempt = service.attempt({ runId: randomUUID(), parameters: { numbers: [1] } })
    const handle = await executor.submit(attempt.input, attempt.reports)
    expect(await ended(executor.watch(handle))).toMatchObject({ status })
    await executor.stop()
  }
})
