/** One-per-call submits from 20 callers in this process, each of which waits for its answer before it calls again. */

import { type Bench, inRounds, type Measured } from './bench.ts'
import type { Contender } from './contender.ts'

const CALLERS = 20
/** Opens every connection and prepares the statements, for everyone alike. */
const WARM_UP_CALLS = 10

export async function measureSubmit(bench: Bench): Promise<Measured[]> {
  const title = `submit, one per call, ${CALLERS} callers`
  const series = await inRounds(bench, title, bench.contenders, (contender) => submitsPerSecond(bench, contender))
  return [{ id: 'submit', title, unit: 'runs/s', series }]
}

async function submitsPerSecond({ server, options, numbers }: Bench, contender: Contender): Promise<number> {
  const place = await server.fresh(contender)
  const producer = await contender.openProducer(place, 'throughput')
  const callUntil = async (isOver: (calls: number) => boolean): Promise<number> => {
    let total = 0
    const caller = async () => {
      for (let calls = 0; !isOver(calls); calls += 1) {
        await producer.submit(numbers(1)[0]!)
        total += 1
      }
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
    return total
  }
  await callUntil((calls) => calls >= WARM_UP_CALLS)
  await server.rest(place)

  const startedAtMs = performance.now()
  const endAtMs = startedAtMs + options.submitSeconds * 1_000
  const total = await callUntil(() => performance.now() >= endAtMs)
  const seconds = (performance.now() - startedAtMs) / 1_000
  await producer.close()
  return total / seconds
}
