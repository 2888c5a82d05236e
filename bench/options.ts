/** The arguments of the benchmark. */

import { parseArgs } from 'node:util'

export const MEASUREMENTS = ['submit', 'bulk', 'drain', 'latency', 'growth', 'snapshot'] as const

export type Measurement = (typeof MEASUREMENTS)[number]

export type Options = {
  only: Measurement[]
  rounds: number
  /** Runs of one bulk submit and of one drain. */
  runs: number
  submitSeconds: number
  latencySamples: number
  pendingRuns: number
  finishedRuns: number
  snapshotSeconds: number
  /** The first and the last of these seconds are compared. */
  snapshotEdgeSeconds: number
  json: boolean
  help: boolean
}

const FULL = {
  rounds: 5,
  runs: 50_000,
  submitSeconds: 2,
  latencySamples: 200,
  pendingRuns: 1_000_000,
  finishedRuns: 2_000_000,
  snapshotSeconds: 60,
  snapshotEdgeSeconds: 10,
}

const QUICK: typeof FULL = {
  rounds: 1,
  runs: 2_000,
  submitSeconds: 0.3,
  latencySamples: 20,
  pendingRuns: 10_000,
  finishedRuns: 20_000,
  snapshotSeconds: 2,
  snapshotEdgeSeconds: 1,
}

export const HELP = `npm run bench -- [options]

Holdfast beside graphile-worker, pg-boss and hand-written SQL on one Postgres: the embedded one, or the one at
DATABASE_URL (as a superuser).
Progress goes to standard error, the results to standard output.

  --only <list>  measurements between commas, of ${MEASUREMENTS.join(', ')}
  --rounds <n>   rounds of each measurement (${FULL.rounds}); medians and spreads are over rounds
  --runs <n>     runs of one bulk submit and of one drain (${FULL.runs})
  --quick        a minute of everything in small: shows that the benchmark works, not how fast anything is
  --json         the results as JSON instead of tables
  --help         this text

The whole takes about ten minutes and 10 GB of disk for a while. Close what else is busy on the machine.`

/** Throws an Error that says what is wrong. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      rounds: { type: 'string' },
      runs: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const sizes = values.quick ? QUICK : FULL
  return {
    ...sizes,
    only: values.only === undefined ? [...MEASUREMENTS] : values.only.split(',').map(measurementOf),
    rounds: countOf('rounds', values.rounds) ?? sizes.rounds,
    runs: countOf('runs', values.runs) ?? sizes.runs,
    json: values.json,
    help: values.help,
  }
}

function measurementOf(name: string): Measurement {
  const known = MEASUREMENTS.find((measurement) => measurement === name.trim())
  if (!known) throw new Error(`--only: no measurement is called "${name}"; there are ${MEASUREMENTS.join(', ')}`)
  return known
}

function countOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 1)
    throw new Error(`--${name} must be a whole number above 0, not ${text}`)
  return count
}
