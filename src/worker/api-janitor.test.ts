import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { createApiJanitor } from './api-janitor.ts'

let db: TestStore
beforeAll(async () => {
  db = await openTestStore('18')
})
afterAll(() => db.close())

it('takes back what a remote worker lost, tells the queue, and counts it, without any worker of ours', async () => {
  const lease = await db.running({}, 'remote:gone', 1)
  const hints: string[] = []
  const metrics = createMetrics({ processMetrics: false })
  const janitor = createApiJanitor({
    workerId: 'api',
    store: db.store,
    hint: (topic) => void hints.push(topic),
    cancelConfirmMs: 60_000,
    everyMs: 20,
    log: recordingLog().log,
    metrics,
  })
  janitor.start()
  onTestFinished(() => janitor.stop())
  const run = await until(async () => (await db.store.readRun(lease.runId))?.run.status === 'PENDING', {
    what: 'the run is taken back',
  })
  expect(run).toBe(true)
  expect(hints).toContain('worker:remote:gone')
  expect(await metrics.text()).toContain('stuck_runs_detected_total 1')
})
