/** Bulk submits: batches of 1,000 in one call, two callers. */

import { type Bench, inRounds, type Measured } from './bench.ts'
import type { Contender, Place, Producer } from './contender.ts'

const BATCH = 1_000
const CALLERS = 2

export async function measureBulk(bench: Bench): Promise<Measured[]> {
  const title = `bulk submit, batches of ${BATCH.toLocaleString('en-US')}, ${CALLERS} callers`
  const series = await inRounds(bench, title, bench.contenders, async (contender) => {
    const place = await bench.server.fresh(contender)
    const producer = await contender.openProducer(place, 'throughput')
    await submitInBulk(bench, producer, CALLERS * BATCH)
    await bench.server.rest(place)
    const startedAtMs = performance.now()
    await submitInBulk(bench, producer, bench.options.runs)
    const seconds = (performance.now() - startedAtMs) / 1_000
    await producer.close()
    return bench.options.runs / seconds
  })
  return [{ id: 'bulk', title, unit: 'runs/s', series }]
}

async function submitInBulk({ numbers }: Bench, producer: Producer, runs: number): Promise<void> {
  let left = runs
  const caller = async () => {
    while (left > 0) {
      const size = Math.min(BATCH, left)
      left -= size
      await producer.submitMany(numbers(size))
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
}

/** Fills a queue for other measurements, the way its users would. */
export async function submitRuns(bench: Bench, contender: Contender, place: Place, runs: number): Promise<void> {
  const producer = await contender.openProducer(place, 'throughput')
  await submitInBulk(bench, producer, runs)
  await producer.close()
}
