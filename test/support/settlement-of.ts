/** What an attempt hands to the store when its work ends like this. */

import { vi } from 'vitest'
import { createMemoryBlobStore } from '../../src/blob/memory.ts'
import type { AttemptReports, Outcome } from '../../src/executor/executor.ts'
import type { ModelDefinition } from '../../src/run/definition.ts'
import { DEFAULT_RETRY_POLICY } from '../../src/run/retry.ts'
import type { Settled, Settlement } from '../../src/store/store.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { Attempt } from '../../src/worker/attempt.ts'
import { FakeExecutor } from './fake-executor.ts'
import { fakeLease } from './fake-lease.ts'
import { recordingLog } from './recording-log.ts'
import { until } from './until.ts'

/** `report` is called while the work is under way. */
export async function settlementOf(
  declared: Partial<ModelDefinition>,
  outcome: Outcome,
  report: (reports: AttemptReports) => void = () => {},
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
    logSuccess: () => {},
    metrics: createMetrics({ processMetrics: false }),
  })
  const done = attempt.run()
  const work = await until(() => executor.attempts[0], { what: 'the work is begun' })
  report(work.reports)
  work.end(outcome)
  await done
  return settle.mock.calls[0]![0]
}
