/**
 * `npm run bench`: Holdfast beside its peers on one Postgres. What is measured and how: docs/operating/benchmark.md.
 */

import { availableParallelism, cpus, totalmem } from 'node:os'
import type { Bench, Measured } from './bench.ts'
import { measureBulk } from './bulk.ts'
import { CONTENDER_NAMES, loadContender } from './contenders.ts'
import { measureDrain } from './drain.ts'
import { measureGrowth } from './growth.ts'
import { measureHeldSnapshot } from './held-snapshot.ts'
import { measureLatency } from './latency.ts'
import { HELP, type Measurement, type Options, readOptions } from './options.ts'
import { jsonReport, textReport } from './report.ts'
import { type Server, startServer } from './server.ts'
import { measureSubmit } from './submit.ts'

const MEASURE: Record<Measurement, (bench: Bench) => Promise<Measured[]>> = {
  submit: measureSubmit,
  bulk: measureBulk,
  drain: measureDrain,
  latency: measureLatency,
  growth: measureGrowth,
  snapshot: measureHeldSnapshot,
}

// Each log of a Holdfast producer watches for the end of the process, and a producer is opened in every round.
process.setMaxListeners(0)

/** Benchmarks of their own, by the first word of the command. */
const OTHERS: Record<string, () => Promise<{ main(args: string[]): Promise<void> }>> = {
  http: () => import('./http.ts'),
  list: () => import('./list.ts'),
  executors: () => import('./executors.ts'),
  steps: () => import('./steps.ts'),
  upload: () => import('./upload.ts'),
  fair: () => import('./fair.ts'),
}

const other = OTHERS[process.argv[2] ?? '']
if (other) await (await other()).main(process.argv.slice(3))
else {
  const options = optionsOrExit()
  if (options.help) console.log(HELP)
  else await main(options)
}

async function main(options: Options): Promise<void> {
  const progress = (line: string) =>
    console.error(`${String(Math.round(performance.now() / 1_000)).padStart(4)} s  ${line}`)
  const contenders = await Promise.all(CONTENDER_NAMES.map(loadContender))
  progress('starting Postgres')
  const server = await startServer()
  stopOnSignals(server)
  try {
    for (const contender of contenders) await server.install(contender)
    let used = 0
    const numbers = (count: number) => Array.from({ length: count }, () => ++used)
    const bench: Bench = { server, contenders, options, numbers, progress }
    const measured: Measured[] = []
    for (const name of options.only) measured.push(...(await MEASURE[name](bench)))
    const surroundings = {
      machine: `${machine()}; ${options.rounds} interleaved rounds`,
      postgres: server.settings,
      contenders: Object.fromEntries(contenders.map(({ name, settings }) => [name, settings])),
    }
    console.log(options.json ? jsonReport(surroundings, measured) : textReport(surroundings, measured))
  } finally {
    await server.stop()
  }
}

function machine(): string {
  const processor = cpus()[0]?.model ?? 'unknown processor'
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  return `${processor}, ${availableParallelism()} cores, ${memory}, Node ${process.versions.node}`
}

function optionsOrExit(): Options {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`)
    return process.exit(2)
  }
}

/** Worker processes end by themselves when this one is gone. */
function stopOnSignals(server: Server): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      // Whatever is being measured fails when its server goes away; that is of no interest now.
      process.on('uncaughtException', () => {})
      void server.stop().finally(() => process.exit(1))
    })
  }
}
