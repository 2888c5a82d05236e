/** An attempt with every port played by the test. */

import { vi } from 'vitest'
import { createMemoryBlobStore } from '../../src/blob/memory.ts'
import { DEFAULT_RETRY_POLICY } from '../../src/run/retry.ts'
import type { Lease, Settled, Settlement } from '../../src/store/store.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { Attempt } from '../../src/worker/attempt.ts'
import { createSuccessLog } from '../../src/worker/success-log.ts'
import { FakeExecutor } from './fake-executor.ts'
import { fakeLease } from './fake-lease.ts'
import { recordingLog } from './recording-log.ts'

const STATUS_OF = {
  succeed: 'SUCCEEDED',
  fail: 'FAILED',
  retry: 'PENDING',
  cancel: 'CANCELLED',
  release: 'PENDING',
  lost: 'PENDING',
}

export function makeAttempt(changes: Partial<Lease> = {}) {
  const lease = fakeLease(changes)
  const executor = new FakeExecutor()
  const settle = vi.fn(
    async ({ kind }: Settlement): Promise<Settled> => ({
      status: STATUS_OF[kind] as Settled['status'],
      repeated: false,
    }),
  )
  const blob = createMemoryBlobStore()
  const { log, lines } = recordingLog()
  const metrics = createMetrics({ processMetrics: false })
  const progress: unknown[] = []
  const attempt = new Attempt(lease, {
    workerId: 'worker-1',
    store: { settle },
    executorOf: (name) => (name === executor.name ? executor : undefined),
    definitionOf: () => undefined,
    policyOf: () => ({ ...DEFAULT_RETRY_POLICY, jitter: 0 }),
    results: { blob, inlineBytes: 100, maxBytes: 1_000 },
    cancelGraceMs: 10_000,
    saveProgress: (_, value) => void progress.push(value),
    log,
    logSuccess: createSuccessLog(log, 'worker-1'),
    metrics,
  })
  const messages = () => lines.map(({ msg }) => msg)
  return { lease, executor, settle, blob, metrics, progress, attempt, lines, messages }
}
