/**
 * What this process counts, for Prometheus.
 *
 * Own registry, no globals. Counters take a number, so a batch is counted in one call. Label values are bounded: of
 * models only the first hundred names are told apart. `export` and `text(others)` let one process answer for several.
 */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { LIMITS, type LimitName } from '../run/quota.ts'
import { ATTEMPT_STATES, type AttemptState } from '../run/status.ts'
import { type Ages, createAges } from './ages.ts'
import { createDeliveryMetrics, type DeliveryMetrics } from './delivery-metrics.ts'
import { watchEventLoop } from './event-loop-lag.ts'

export type Count = { inc(n?: number): void }
export type MetricsExport = object[]

type Others = Ages & DeliveryMetrics

export type Metrics = Others & {
  runsCreated: Count
  uploads: Count
  uploadDuplicates: Count
  uploadBytes: Count
  runsSucceeded: Count
  runsFailed: Count
  runsCancelled: Count
  stuckRunsDetected: Count
  runsOverdue: Count
  leasesLost: Count
  lateResultsDiscarded: Count
  quotaRefusals: { inc(limit: LimitName, n?: number): void }
  attempts: { inc(state: AttemptState, n?: number): void }
  runDuration: { observe(model: string, seconds: number): void }
  queueLag: { observe(seconds: number): void }
  /** Asked at each scrape. */
  onRunsInFlight(read: () => number): void
  /** Asked at each scrape; a rejection leaves the depths out of that scrape. */
  onQueueDepth(read: () => Promise<{ queue: string; depth: number }[]>): void
  /** Asked at each scrape, and not told without it; a rejection tells what was told before. */
  onRunsOverdue(read: () => Promise<number>): void
  /** Likewise. */
  onReservationsActive(read: () => Promise<number>): void
  /**
   * Asked at each scrape: what the whole service has counted, for a process that ends no runs itself and answers for no other that does.
   * A rejection leaves the totals as they were.
   */
  onTotals(read: () => Promise<RunTotals>): void
  readonly contentType: string
  /** With the exports of other processes added in. */
  text(others?: MetricsExport[]): Promise<string>
  export(): Promise<MetricsExport>
}

/** `reclaimed`: leases that expired. */
export type RunTotals = { succeeded: number; failed: number; cancelled: number; reclaimed: number }

export type MetricsOptions = {
  /** Memory, CPU, garbage collection and the like. */
  processMetrics?: boolean
  nowMs?: () => number
}

const MODELS_MAX = 100
const OTHER_MODELS = 'other'
/** From a no-op to a day of training. */
const DURATION_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400]
const LAG_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 3_600]

export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { processMetrics = true, nowMs = () => performance.now() } = options
  const registry = new Registry()
  const registers = [registry]
  if (processMetrics) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 })

  const count = (name: string, help: string) => new Counter({ name, help, registers })
  const lag = new Histogram({
    name: 'queue_lag_seconds',
    help: 'Time from the creation of a run to its first start.',
    buckets: LAG_BUCKETS,
    registers,
  })
  watchEventLoop(registers)

  const ends = {
    succeeded: count('runs_succeeded_total', 'Runs that ended SUCCEEDED.'),
    failed: count('runs_failed_total', 'Runs that ended FAILED.'),
    cancelled: count('runs_cancelled_total', 'Runs that ended CANCELLED.'),
    reclaimed: count('stuck_runs_detected_total', 'Running runs found with an expired lease.'),
  }
  let readTotals: (() => Promise<RunTotals>) | null = null

  async function setTotals(): Promise<void> {
    const totals = await readTotals?.().catch(() => null)
    if (!totals) return
    for (const name of ['succeeded', 'failed', 'cancelled', 'reclaimed'] as const) {
      ends[name].reset()
      ends[name].inc(totals[name])
    }
  }

  return {
    runsCreated: count('runs_created_total', 'Runs accepted as new.'),
    uploads: count('uploads_total', 'Uploads accepted, duplicates too.'),
    uploadDuplicates: count('upload_duplicates_total', 'Uploads of what their owner had handed in before.'),
    uploadBytes: count('upload_bytes_total', 'Bytes of files received, also of uploads that were not accepted.'),
    runsSucceeded: ends.succeeded,
    runsFailed: ends.failed,
    runsCancelled: ends.cancelled,
    stuckRunsDetected: ends.reclaimed,
    runsOverdue: count('runs_overdue_total', 'Attempts found running for three times as long as expected.'),
    leasesLost: count('leases_lost_total', 'Leases this process held and lost.'),
    lateResultsDiscarded: count('late_results_discarded_total', 'Results that came after their lease was lost.'),
    quotaRefusals: quotaRefusals(registers),
    attempts: attemptCounts(registers),
    runDuration: durations(registers),
    queueLag: lag,
    onRunsInFlight: runsInFlight(registers),
    onQueueDepth: queueDepth(registers),
    onRunsOverdue: readGauge(registers, {
      name: 'runs_overdue',
      help: 'Runs whose present attempt takes more than three times the expected duration.',
    }),
    onReservationsActive: readGauge(registers, {
      name: 'reservations_active',
      help: 'Reservations that hold a place of a quota now.',
    }),
    ...createAges(registers, nowMs),
    ...createDeliveryMetrics(registers),
    onTotals(read) {
      readTotals = read
    },
    contentType: registry.contentType,
    async text(others = []) {
      await setTotals()
      if (others.length === 0) return registry.metrics()
      return Registry.aggregate([await registry.getMetricsAsJSON(), ...others]).metrics()
    },
    export: () => registry.getMetricsAsJSON(),
  }
}

/** Not by owner: nobody knows how many there are. */
function quotaRefusals(registers: Registry[]): Metrics['quotaRefusals'] {
  const counter = new Counter({
    name: 'quota_refusals_total',
    help: 'Runs and reservations refused, by the limit that bound.',
    labelNames: ['limit'],
    registers,
  })
  for (const limit of LIMITS) counter.labels(limit).inc(0)
  return { inc: (limit, n) => counter.labels(LIMITS.includes(limit) ? limit : 'other').inc(n) }
}

function attemptCounts(registers: Registry[]): Metrics['attempts'] {
  const counter = new Counter({
    name: 'attempts_total',
    help: 'Attempts by the state they ended in.',
    labelNames: ['state'],
    registers,
  })
  const byState = new Map<AttemptState, Count>(ATTEMPT_STATES.map((state) => [state, counter.labels(state)]))
  for (const labelled of byState.values()) labelled.inc(0)
  return { inc: (state, n) => byState.get(state)?.inc(n) }
}

function durations(registers: Registry[]): Metrics['runDuration'] {
  const histogram = new Histogram({
    name: 'run_duration_seconds',
    help: 'Time from the first start of a run to its end.',
    labelNames: ['model'],
    buckets: DURATION_BUCKETS,
    registers,
  })
  const byModel = new Map<string, { observe(seconds: number): void }>()

  function labelled(model: string): { observe(seconds: number): void } {
    const known = byModel.get(model)
    if (known) return known
    if (byModel.size >= MODELS_MAX && model !== OTHER_MODELS) return labelled(OTHER_MODELS)
    const added = histogram.labels(model)
    byModel.set(model, added)
    return added
  }

  return { observe: (model, seconds) => labelled(model).observe(seconds) }
}

function runsInFlight(registers: Registry[]): Metrics['onRunsInFlight'] {
  let read = () => 0
  new Gauge({
    name: 'runs_in_flight',
    help: 'Runs this process is executing now.',
    registers,
    collect() {
      this.set(read())
    },
  })
  return (next) => {
    read = next
  }
}

/** There is no such line before someone can read it: none is not the same as unknown. */
function readGauge(registers: Registry[], { name, help }: { name: string; help: string }): Metrics['onRunsOverdue'] {
  let read: (() => Promise<number>) | null = null
  return (next) => {
    const isFirst = read === null
    read = next
    if (!isFirst) return
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const count = await read!().catch(() => null)
        if (count !== null) this.set(count)
      },
    })
  }
}

function queueDepth(registers: Registry[]): Metrics['onQueueDepth'] {
  let read: (() => Promise<{ queue: string; depth: number }[]>) | null = null
  new Gauge({
    name: 'queue_depth',
    help: 'Pending runs by queue.',
    labelNames: ['queue'],
    registers,
    async collect() {
      // A queue that is gone from the answer must be gone from the scrape.
      this.reset()
      const depths = await read?.().catch(() => [])
      for (const { queue, depth } of depths ?? []) this.set({ queue }, depth)
    },
  })
  return (next) => {
    read = next
  }
}
