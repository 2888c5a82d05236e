/** What an attempt cost goes with its end, whichever that is; a model without a cost sends nothing. */

import { expect, it, vi } from 'vitest'
import { FakeExecutor } from '../../test/support/fake-executor.ts'
import { fakeLease } from '../../test/support/fake-lease.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { until } from '../../test/support/until.ts'
import { createMemoryBlobStore } from '../blob/memory.ts'
import type { Outcome } from '../executor/executor.ts'
import type { ModelDefinition } from '../run/definition.ts'
import { DEFAULT_RETRY_POLICY } from '../run/retry.ts'
import type { Settled, Settlement } from '../store/store.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { Attempt } from './attempt.ts'

const COST = { cost: { estimate: 1 } }
const SUCCEEDED: Outcome = { status: 'succeeded', resultText: '1' }
const FAILED: Outcome = { status: 'failed', error: { class: 'Error', message: 'it broke', stack: null } }

async function settlementOf(
  declared: Partial<ModelDefinition>,
  outcome: Outcome,
  costs: number[] = [],
): Promise<Settlement> {
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
  for (const amount of costs) work.reports.cost!(amount)
  work.end(outcome)
  await done
  return settle.mock.calls[0]![0]
}

it.each([
  ['of a success', SUCCEEDED],
  ['of a failure', FAILED],
])('%s it is the latest that was reported', async (_, outcome) => {
  expect(await settlementOf(COST, outcome, [1, 2.5])).toMatchObject({ cost: { reported: 2.5 } })
})

it('of an engine it is what the job says', async () => {
  expect(await settlementOf(COST, { ...SUCCEEDED, cost: 4 })).toMatchObject({ cost: { reported: 4 } })
})

it('where nothing is reported, that is told, so that the time or the estimate counts', async () => {
  expect(await settlementOf(COST, SUCCEEDED)).toMatchObject({ cost: { reported: null } })
})

it('of a model without a cost there is not even a name', async () => {
  expect(await settlementOf({}, SUCCEEDED)).not.toHaveProperty('cost')
})
