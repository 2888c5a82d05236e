/** The janitor's look at overdue attempts with the store played by the test: what is counted and logged, and how often it looks. */

import { expect, it } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import type { OverdueRun } from '../store/ports/overdue.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { createFlagOverdue } from './flag-overdue.ts'
import type { JanitorDeps } from './janitor.ts'

const RUN: OverdueRun = {
  runId: 'run-1',
  attempt: 2,
  workerId: 'worker-9',
  model: 'forecast',
  queue: 'default',
  executor: 'process',
  payloadHash: 'f'.repeat(64),
  expectedSeconds: 10,
  runningSeconds: 31.4,
}

function setUp(found: OverdueRun[][], forgotten = 0) {
  const { log, lines } = recordingLog()
  const metrics = createMetrics({ processMetrics: false })
  let looks = 0
  const overdue = { flag: async () => found[looks++] ?? [], forget: async () => forgotten }
  const deps = { store: { overdue }, log, metrics } as unknown as JanitorDeps
  return { deps, lines, metrics, looks: () => looks }
}

it('each is counted and logged with what was expected', async () => {
  const { deps, lines, metrics } = setUp([[RUN, { ...RUN, runId: 'run-2' }]])
  expect(await createFlagOverdue(1_000)(deps)).toBe(false)
  expect(await metrics.text()).toContain('runs_overdue_total 2')
  expect(lines).toMatchObject([
    {
      level: 'warn',
      run_id: 'run-1',
      worker_id: 'worker-9',
      expected_seconds: 10,
      running_seconds: 31,
      model: 'forecast',
    },
    { run_id: 'run-2' },
  ])
})

it('rests between two looks, except when there may be more', async () => {
  const rested = setUp([])
  const duty = createFlagOverdue(60_000)
  for (let no = 0; no < 3; no += 1) await duty(rested.deps)
  expect(rested.looks()).toBe(1)
  const busy = setUp([Array.from({ length: 200 }, () => RUN), [RUN]])
  const again = createFlagOverdue(60_000)
  expect([await again(busy.deps), await again(busy.deps), busy.looks()]).toEqual([true, false, 2])
})

it('the gauge tells what the service has now, and nothing where nobody asks', async () => {
  const metrics = createMetrics({ processMetrics: false })
  expect(await metrics.text()).not.toContain('runs_overdue ')
  metrics.onRunsOverdue(async () => 4)
  expect(await metrics.text()).toContain('runs_overdue 4')
})
