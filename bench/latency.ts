/**
 * From the call of submit in this process to the start of the handler in a worker process that has nothing else to
 * do, one run at a time. Both read the same monotonic clock of the machine.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { type Bench, inRounds, type Measured } from './bench.ts'
import type { Contender } from './contender.ts'
import { percentile } from './statistics.ts'
import { startWorkerProcess, type WorkerHandle } from './worker-handle.ts'

const WITHIN_MS = 10_000
/**
 * The worker has settled the last run and is idle again. Not a fixed time, so that no timer of a contender falls into
 * step.
 */
const pauseMs = () => 6 + Math.random() * 8

export async function measureLatency(bench: Bench): Promise<Measured[]> {
  const { latencySamples } = bench.options
  const p99: Record<string, number[]> = {}
  const title = `start latency at idle, ${latencySamples} samples`
  const p50 = await inRounds(bench, `${title}, p50`, bench.contenders, async (contender) => {
    const samples = await startLatencies(bench, contender)
    p99[contender.name] = [...(p99[contender.name] ?? []), percentile(samples, 99)]
    return percentile(samples, 50)
  })
  return [
    { id: 'latency-p50', title: `${title}, p50`, unit: 'ms', series: p50 },
    { id: 'latency-p99', title: `${title}, p99`, unit: 'ms', series: p99 },
  ]
}

async function startLatencies({ server, options, numbers }: Bench, contender: Contender): Promise<number[]> {
  const place = await server.fresh(contender)
  await server.rest(place)
  const producer = await contender.openProducer(place, 'latency')
  const worker = await startWorkerProcess(contender.name, place, 'latency')
  try {
    const working = worker.report('working', WITHIN_MS)
    worker.begin({ report: 'starts', runs: 0 })
    await working
    const samples: number[] = []
    // As many again come first and are not counted: a service is idle after its code has been compiled, not before.
    for (let index = -options.latencySamples; index < options.latencySamples; index += 1) {
      await delay(pauseMs())
      const latencyMs = await startLatencyMs(worker, producer.submit, numbers(1)[0]!)
      if (index >= 0) samples.push(latencyMs)
    }
    return samples
  } finally {
    await worker.kill()
    await producer.close()
  }
}

async function startLatencyMs(
  worker: WorkerHandle,
  submit: (n: number) => Promise<void>,
  number: number,
): Promise<number> {
  const start = worker.report('start', WITHIN_MS)
  const calledAtNs = process.hrtime.bigint()
  const [{ n, atNs }] = await Promise.all([start, submit(number)])
  if (n !== number) throw new Error(`run ${n} started, ${number} was meant to`)
  return Number(BigInt(atNs) - calledAtNs) / 1e6
}
