/**
 * One worker process empties a queue of no-op runs. The clock runs from the first start, after the process has come
 * up, until the database says that no run is left.
 */

import { type Bench, inRounds, type Measured } from './bench.ts'
import { submitRuns } from './bulk.ts'
import type { Contender, Place } from './contender.ts'
import { startWorkerProcess } from './worker-handle.ts'

const WITHIN_MS = 120_000

export async function measureDrain(bench: Bench): Promise<Measured[]> {
  const { server, options } = bench
  const title = `drain of ${options.runs.toLocaleString('en-US')} no-op runs by one worker process`
  const series = await inRounds(bench, title, bench.contenders, async (contender) => {
    const place = await server.fresh(contender)
    await submitRuns(bench, contender, place, options.runs)
    await server.rest(place)
    return drainedPerSecond(contender, place, options.runs, 'empty')
  })
  return [{ id: 'drain', title, unit: 'runs/s', series }]
}

export async function drainedPerSecond(
  contender: Contender,
  place: Place,
  runs: number,
  report: 'empty' | 'done',
): Promise<number> {
  const worker = await startWorkerProcess(contender.name, place, 'throughput')
  try {
    const drained = worker.report('drained', WITHIN_MS)
    worker.begin({ report, runs })
    const { ms } = await drained
    return runs / (ms / 1_000)
  } finally {
    await worker.kill()
  }
}
