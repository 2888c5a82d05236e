/** What a run will be found by goes with its success, wherever the result is kept; a model that declares nothing sends nothing. */

import { expect, it, vi } from 'vitest'
import { FakeExecutor } from '../../test/support/fake-executor.ts'
import { fakeLease } from '../../test/support/fake-lease.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { until } from '../../test/support/until.ts'
import { createMemoryBlobStore } from '../blob/memory.ts'
import type { ModelDefinition } from '../run/definition.ts'
import { DEFAULT_RETRY_POLICY } from '../run/retry.ts'
import type { Settled, Settlement } from '../store/store.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { Attempt } from './attempt.ts'

async function settlementOf(declared: Partial<ModelDefinition>, result: object): Promise<Settlement> {
  const executor = new FakeExecutor()
  const settle = vi.fn(async (_: Settlement): Promise<Settled> => ({ status: 'SUCCEEDED', repeated: false }))
  const attempt = new Attempt(fakeLease(), {
    workerId: 'worker-1',
    store: { settle },
    executorOf: () => executor,
    definitionOf: () => ({ volatile: [], ...declared }) as unknown as ModelDefinition,
    policyOf: () => DEFAULT_RETRY_POLICY,
    results: { blob: createMemoryBlobStore(), inlineBytes: 300, maxBytes: 10_000 },
    cancelGraceMs: 10_000,
    saveProgress: () => {},
    log: recordingLog().log,
    metrics: createMetrics({ processMetrics: false }),
  })
  const done = attempt.run()
  const work = await until(() => executor.attempts[0], { what: 'the work is begun' })
  work.end({ status: 'succeeded', resultText: JSON.stringify(result) })
  await done
  return settle.mock.calls[0]![0]
}

const DECLARED = { facets: { language: 'language' }, places: 'at' }
const RESULT = { language: 'fr', at: [{ latitude: 1, longitude: 2 }] }

it.each([
  ['inline', 'inline', ''],
  ['in a blob', 'artifacts/', 'x'.repeat(500)],
])('of a result %s', async (_, ref, text) => {
  const { found, result } = await settlementOf(DECLARED, { ...RESULT, text })
  expect(result!.ref.startsWith(ref)).toBe(true)
  expect(found).toEqual({
    facets: [{ name: 'language', value: 'fr' }],
    places: [{ latitude: 1, longitude: 2, label: null, fileId: null }],
  })
})

it('of a model that declares nothing, or of a result that has nothing of it, there is not even a name', async () => {
  expect(await settlementOf({}, RESULT)).not.toHaveProperty('found')
  expect(await settlementOf(DECLARED, { other: true })).not.toHaveProperty('found')
})
