/**
 * Steady submit and drain while a transaction elsewhere, opened before the first run, keeps every dead row version
 * alive.
 *
 * Two callers submit in bulk whenever fewer than a set number of runs are open, so the worker is always busy and the
 * throughput is what the worker can do. Compared are the first and the last seconds.
 */

import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Bench, Measured } from './bench.ts'
import type { Contender, Place, Producer } from './contender.ts'
import { startWorkerProcess } from './worker-handle.ts'

const BATCH = 500
const CALLERS = 2
const OPEN_MAX = 5_000
const WITHIN_MS = 10_000
/** The contender with the mark, and the one it is compared with elsewhere. */
const MEASURED = ['holdfast', 'graphile-worker']

export const FIRST = 'first'
export const LAST = 'last'

export async function measureHeldSnapshot(bench: Bench): Promise<Measured[]> {
  const { snapshotSeconds, snapshotEdgeSeconds } = bench.options
  const measured: Measured[] = []
  for (const contender of bench.contenders.filter(({ name }) => MEASURED.includes(name))) {
    bench.progress(`held snapshot · ${contender.name} for ${snapshotSeconds} s`)
    const perSecond = await throughputPerSecond(bench, contender)
    const mean = (counts: number[]) => counts.reduce((sum, count) => sum + count, 0) / counts.length
    const first = mean(perSecond.slice(0, snapshotEdgeSeconds))
    const last = mean(perSecond.slice(-snapshotEdgeSeconds))
    const edges = `first and last ${snapshotEdgeSeconds} of ${snapshotSeconds} s`
    measured.push({
      id: `snapshot-${contender.name}`,
      title: `${contender.name} beside a held snapshot, ${edges}`,
      unit: 'runs/s',
      series: { [FIRST]: [first], [LAST]: [last] },
    })
  }
  return measured
}

async function throughputPerSecond(bench: Bench, contender: Contender): Promise<number[]> {
  const place = await bench.server.fresh(contender)
  await bench.server.rest(place)
  const release = await holdSnapshot(place)
  const producer = await contender.openProducer(place, 'throughput')
  const worker = await startWorkerProcess(contender.name, place, 'throughput')
  let done = 0
  worker.onReport((report) => {
    if (report.type === 'count') done = report.done
  })
  const stop = new AbortController()
  const working = worker.report('working', WITHIN_MS)
  worker.begin({ report: 'counts', runs: 0 })
  try {
    await working
    const submitting = keepOpen(bench, producer, () => done, stop.signal)
    const counts: number[] = []
    // The clock starts with the first finished run: everything is connected then.
    while (done === 0) await delay(5)
    const startedAtMs = performance.now()
    for (let second = 1, before = done; second <= bench.options.snapshotSeconds; second += 1) {
      await delay(startedAtMs + second * 1_000 - performance.now())
      counts.push(done - before)
      before = done
      const latest = `${second} s: ${counts.at(-1)} runs/s`
      if (second % 10 === 0) bench.progress(`held snapshot · ${contender.name} · ${latest}`)
    }
    stop.abort()
    await submitting
    return counts
  } finally {
    stop.abort()
    await worker.kill()
    await release()
    await producer.close()
  }
}

async function keepOpen(bench: Bench, producer: Producer, done: () => number, signal: AbortSignal): Promise<void> {
  let submitted = 0
  const caller = async () => {
    while (!signal.aborted) {
      if (submitted - done() + BATCH > OPEN_MAX) await delay(2)
      else {
        submitted += BATCH
        await producer.submitMany(bench.numbers(BATCH))
      }
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
}

async function holdSnapshot(place: Place): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: place.url })
  await client.connect()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  // The first statement takes the snapshot; it is held until the transaction ends.
  await client.query('SELECT count(*) FROM pg_class')
  return () => client.end()
}
