/**
 * Property-based requests for every operation of the OpenAPI document, sent over sockets to a service on a real database.
 * Whatever is asked: no error of ours, no status or body that is not described, no answer that never comes, no connection left behind.
 *
 * FUZZ_SEED repeats a run, FUZZ_CASES asks for more requests per operation (`npm run fuzz`).
 */

import { Agent } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { OpenApiDocument } from '../../src/api/openapi.ts'
import { until } from '../support/until.ts'
import { createJudge } from './judge.ts'
import { type FuzzOperation, requestsOf } from './requests.ts'
import { send } from './send.ts'
import { openWorld } from './world.ts'

const CASES = Number(process.env.FUZZ_CASES ?? 200)
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)

const world = await openWorld()
const { app } = world.api
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
const agent = new Agent({ keepAlive: true, maxSockets: 16 })
const document: OpenApiDocument = (await app.inject({ url: '/openapi.json' })).json()
const judge = createJudge(document)
const words = { known: world.known, named: document.components.schemas }
const operations: FuzzOperation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
)
const counts = new Map<string, Map<number, number>>()

afterAll(async () => {
  agent.destroy()
  const total = [...counts.values()].flatMap((byStatus) => [...byStatus.values()]).reduce((sum, one) => sum + one, 0)
  console.log(`fuzz: seed ${SEED}, ${operations.length} operations, ${total} requests`)
  for (const [name, byStatus] of counts) {
    const shown = [...byStatus].sort(([a], [b]) => a - b).map(([status, count]) => `${status}×${count}`)
    console.log(`  ${name}: ${shown.join(' ')}`)
  }
  await world.close()
})

describe.concurrent('every request is answered as the document says', () => {
  test.each(operations)('$method $path', { timeout: 600_000 }, async (asked) => {
    const byStatus = new Map<number, number>()
    counts.set(`${asked.method} ${asked.path}`, byStatus)
    const holds = fc.asyncProperty(requestsOf(asked, words), async (request) => {
      const headers = { ...world.credentials(request.as), ...request.headers }
      const answer = await send({ ...request, headers }, { port, agent })
      byStatus.set(answer.status, (byStatus.get(answer.status) ?? 0) + 1)
      world.remember(answer)
      const wrong = judge(asked, request, answer)
      if (wrong) throw new Error(`${wrong}\nanswered ${answer.status}: ${answer.body.slice(0, 1000)}`)
    })
    await fc.assert(holds, {
      seed: SEED,
      numRuns: CASES,
      interruptAfterTimeLimit: 300_000,
      markInterruptAsFailure: true,
    })
    expect([...byStatus.values()].reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(CASES)
  })
})

test('no connection is left open', async () => {
  agent.destroy()
  const open = () => new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)))
  await until(async () => (await open()) === 0, { what: 'every connection is closed', timeoutMs: 10_000 })
})
