/** The janitor's duties with the store played by the test: what is counted, logged, and who is told. */

import { expect, it } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import type { Reclaimed } from '../store/store.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { cleanKeys, endUnconfirmedCancels, forgetWorkers, type JanitorDeps, reclaimExpiredLeases } from './janitor.ts'

function reclaimed(changes: Partial<Reclaimed> = {}): Reclaimed {
  return {
    runId: 'run-1',
    attempt: 1,
    workerId: 'dead-worker',
    status: 'PENDING',
    model: 'forecast',
    queue: 'default',
    executor: 'process',
    payloadHash: 'f'.repeat(64),
    overdueMs: 12.6,
    ...changes,
  }
}

function setUp(store: Partial<JanitorDeps['store']>) {
  const hints: [string, string][] = []
  const { log, lines } = recordingLog()
  const metrics = createMetrics({ processMetrics: false })
  const deps: JanitorDeps = {
    workerId: 'worker-1',
    store: {
      reclaimExpired: async () => [],
      confirmOverdueCancels: async () => [],
      deleteExpiredKeys: async () => 0,
      forgetDeadWorkers: async () => 0,
      ...store,
    },
    hint: (topic, runId) => void hints.push([topic, runId]),
    cancelConfirmMs: 60_000,
    log,
    metrics,
  }
  return { deps, hints, lines, metrics }
}

it('a run taken back is offered to its queue at once, and its former holder is told', async () => {
  const { deps, hints, lines } = setUp({ reclaimExpired: async () => [reclaimed()] })
  expect(await reclaimExpiredLeases(deps)).toBe(false)
  expect(hints).toEqual([
    ['queue:default', 'run-1'],
    ['worker:dead-worker', 'run-1'],
  ])
  expect(lines).toMatchObject([{ level: 'warn', run_id: 'run-1', worker_id: 'dead-worker', overdue_ms: 13 }])
})

it('every run taken back counts as stuck and its attempt as lost; those that ended count as ended', async () => {
  const taken = [reclaimed(), reclaimed({ status: 'FAILED' }), reclaimed({ status: 'CANCELLED' })]
  const { deps, hints, metrics } = setUp({ reclaimExpired: async () => taken })
  await reclaimExpiredLeases(deps)
  const text = await metrics.text()
  for (const line of [
    'stuck_runs_detected_total 3',
    'attempts_total{state="LOST"} 3',
    'runs_failed_total 1',
    'runs_cancelled_total 1',
  ]) {
    expect(text).toContain(line)
  }
  expect(hints.filter(([topic]) => topic.startsWith('queue:'))).toHaveLength(1)
})

it('a full page means that there may be more', async () => {
  const page = Array.from({ length: 200 }, (_, index) => reclaimed({ runId: `run-${index}` }))
  const { deps } = setUp({
    reclaimExpired: async ({ limit }) => page.slice(0, limit),
    confirmOverdueCancels: async ({ limit }) => page.slice(0, limit),
    deleteExpiredKeys: async (limit) => limit,
  })
  for (const duty of [reclaimExpiredLeases, endUnconfirmedCancels, cleanKeys]) expect(await duty(deps)).toBe(true)
})

it('a cancel nobody confirmed is ended after its time, and the holder told to stop', async () => {
  const asked: unknown[] = []
  const { deps, hints, metrics } = setUp({
    confirmOverdueCancels: async (options) => {
      asked.push(options)
      return [reclaimed({ status: 'CANCELLED' })]
    },
  })
  await endUnconfirmedCancels(deps)
  expect(asked).toEqual([{ afterMs: 60_000, limit: 200 }])
  expect(hints).toEqual([['worker:dead-worker', 'run-1']])
  expect(await metrics.text()).toContain('runs_cancelled_total 1')
})

it('workers not seen for a day are forgotten', async () => {
  let afterMs = 0
  const { deps } = setUp({
    forgetDeadWorkers: async (ms) => {
      afterMs = ms
      return 1
    },
  })
  expect(await forgetWorkers(deps)).toBe(false)
  expect(afterMs).toBe(24 * 3600 * 1000)
})
