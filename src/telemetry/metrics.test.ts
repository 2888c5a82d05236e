import { describe, expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'

/** Value lines by name and labels. */
function values(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => {
      const cut = line.lastIndexOf(' ')
      return [line.slice(0, cut), Number(line.slice(cut + 1))]
    }),
  )
}

const create = (nowMs?: () => number) => createMetrics({ processMetrics: false, nowMs })

describe('metrics', () => {
  it.each([
    'runs_created_total',
    'runs_succeeded_total',
    'runs_failed_total',
    'runs_cancelled_total',
    'stuck_runs_detected_total',
    'leases_lost_total',
    'late_results_discarded_total',
    'queue_lag_seconds_count',
    'runs_in_flight',
    'event_loop_lag_seconds',
  ])('show %s from the start', async (name) => {
    expect(values(await create().text())[name]).toBeGreaterThanOrEqual(0)
  })

  it('count batches in one call', async () => {
    const metrics = create()
    metrics.runsCreated.inc()
    metrics.runsCreated.inc(500)
    metrics.attempts.inc('SUCCEEDED', 3)
    metrics.attempts.inc('LOST')
    expect(values(await metrics.text())).toMatchObject({
      runs_created_total: 501,
      'attempts_total{state="SUCCEEDED"}': 3,
      'attempts_total{state="LOST"}': 1,
    })
  })

  it('count nothing for an empty batch', async () => {
    const metrics = create()
    metrics.runsFailed.inc(0)
    expect(values(await metrics.text()).runs_failed_total).toBe(0)
  })

  it('put durations and lags into histograms', async () => {
    const metrics = create()
    metrics.runDuration.observe('forecast', 0.7)
    metrics.queueLag.observe(0.002)
    expect(values(await metrics.text())).toMatchObject({
      'run_duration_seconds_bucket{le="0.5",model="forecast"}': 0,
      'run_duration_seconds_bucket{le="1",model="forecast"}': 1,
      'run_duration_seconds_sum{model="forecast"}': 0.7,
      'queue_lag_seconds_bucket{le="0.005"}': 1,
    })
  })

  it('tell at most a hundred models apart', async () => {
    const metrics = create()
    for (let i = 0; i < 150; i++) metrics.runDuration.observe(`model-${i}`, 1)
    metrics.runDuration.observe('model-0', 1)
    const counts = Object.entries(values(await metrics.text())).filter(([name]) =>
      name.startsWith('run_duration_seconds_count'),
    )
    expect(counts).toHaveLength(101)
    expect(counts).toContainEqual(['run_duration_seconds_count{model="model-0"}', 2])
    expect(counts).toContainEqual(['run_duration_seconds_count{model="other"}', 50])
  })

  it('ask for the queue depths at each scrape and forget queues that are gone', async () => {
    const metrics = create()
    const answers = [[{ queue: 'default', depth: 4 }], [{ queue: 'gpu', depth: 2 }]]
    metrics.onQueueDepth(async () => answers.shift() ?? [])
    expect(values(await metrics.text())['queue_depth{queue="default"}']).toBe(4)
    const second = values(await metrics.text())
    expect(second['queue_depth{queue="gpu"}']).toBe(2)
    expect(second['queue_depth{queue="default"}']).toBeUndefined()
  })

  it('survive a database that does not answer', async () => {
    const metrics = create()
    metrics.onQueueDepth(() => Promise.reject(new Error('down')))
    expect(await metrics.text()).toContain('runs_created_total 0')
  })

  it('show how long ago the loops and the heartbeat last turned, once they have', async () => {
    let nowMs = 1_000
    const metrics = create(() => nowMs)
    expect(values(await metrics.text()).heartbeat_age_seconds).toBeUndefined()
    metrics.heartbeatDone()
    metrics.loopTicked('janitor')
    nowMs += 2_500
    expect(values(await metrics.text())).toMatchObject({
      heartbeat_age_seconds: 2.5,
      'loop_last_tick_age_seconds{loop="janitor"}': 2.5,
    })
  })

  it('add up several processes, taking the worst of ages', async () => {
    let nowMs = 0
    const [api, worker] = [create(() => nowMs), create(() => nowMs)]
    api.runsCreated.inc(2)
    api.loopTicked('janitor')
    nowMs += 3_000
    worker.runsSucceeded.inc(1)
    worker.runDuration.observe('forecast', 1)
    worker.loopTicked('janitor')
    const exported = structuredClone(await worker.export())
    expect(values(await api.text([exported]))).toMatchObject({
      runs_created_total: 2,
      runs_succeeded_total: 1,
      'run_duration_seconds_count{model="forecast"}': 1,
      'loop_last_tick_age_seconds{loop="janitor"}': 3,
    })
  })

  it('carry the metrics of the process', async () => {
    const text = await createMetrics().text()
    expect(text).toContain('process_resident_memory_bytes')
    expect(text).toContain('nodejs_heap_size_used_bytes')
  })

  it('do not share anything between two of them', async () => {
    const [one, other] = [create(), create()]
    one.runsCreated.inc()
    expect(values(await other.text()).runs_created_total).toBe(0)
  })

  it('are text of the Prometheus format', () => {
    expect(create().contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  })
})

describe('totals of the whole service', () => {
  const totals = { succeeded: 5, failed: 2, cancelled: 1, reclaimed: 3 }

  it('take the place of what this process counted, and a failed reading leaves them as they were', async () => {
    const metrics = createMetrics({ processMetrics: false })
    let read = async () => totals
    metrics.onTotals(() => read())
    await metrics.text()
    expect(await metrics.text()).toMatch(/^runs_succeeded_total 5$/m)
    read = () => Promise.reject(new Error('gone'))
    expect(await metrics.text()).toMatch(/^stuck_runs_detected_total 3$/m)
  })
})
