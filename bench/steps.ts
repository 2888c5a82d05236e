/**
 * `npm run bench -- steps`: what steps cost. Runs that do nothing, at once, in one step and in five, inline and in child processes, in turns.
 *
 * `alone` is from the submit of one run to its end, while nothing else runs. `per run` is the time from the first start to the last end of many
 * runs, divided by their number. All times are the database's. Each output of a step is committed before the next begins.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Place } from './contender.ts'
import { contender } from './holdfast.ts'
import { ended, openHouse, startApi } from './live-runs.ts'
import { startServer } from './server.ts'
import { median, ratios, spread } from './statistics.ts'

const MODELS = fileURLToPath(new URL('./step-models.ts', import.meta.url))
const PROGRAM = fileURLToPath(new URL('../bin/holdfast.js', import.meta.url))
const MARK_RATIO = 6
const EXECUTORS = ['inline', 'process'] as const
const KINDS = ['plain', 'one_step', 'five_steps'] as const

const HELP = `npm run bench -- steps [options]

  --rounds <n>   turns of each (5)
  --runs <n>     runs of the second figure (1000)
  --samples <n>  runs of the first (50)
  --slots <n>    runs at once (32)
  --quick        one small turn: shows that it works
  --json         the figures as JSON`

type Options = { rounds: number; runs: number; samples: number; slots: number }
type Figures = { model: string; aloneMs: number[]; perRunMs: number[] }

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      runs: { type: 'string' },
      samples: { type: 'string' },
      slots: { type: 'string', default: '32' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  const { quick } = values
  const options: Options = {
    rounds: Number(values.rounds ?? (quick ? 1 : 5)),
    runs: Number(values.runs ?? (quick ? 100 : 1_000)),
    samples: Number(values.samples ?? (quick ? 5 : 50)),
    slots: Number(values.slots),
  }
  const figures = await measure(options)
  console.log(values.json ? JSON.stringify(figures, null, 2) : report(figures, options))
}

async function measure({ rounds, runs, samples, slots }: Options): Promise<Figures[]> {
  const server = await startServer()
  const children: ChildProcess[] = []
  try {
    await server.install(contender)
    const place = await server.fresh(contender)
    const api = await startApi(place, children)
    children.push(startWorker(place, slots))
    const house = await openHouse(place, api)
    const figures: Figures[] = EXECUTORS.flatMap((executor) =>
      KINDS.map((kind) => ({ model: `${kind}_${executor}`, aloneMs: [], perRunMs: [] })),
    )
    for (const { model } of figures) await house.warm(model, Math.min(runs, 4 * slots))
    for (let round = 0; round < rounds; round += 1) {
      console.error(`${Math.round(performance.now() / 1_000)} s  round ${round + 1} of ${rounds}`)
      for (let turn = 0; turn < figures.length; turn += 1) {
        const figure = figures[(round + turn) % figures.length]!
        await server.rest(place)
        figure.aloneMs.push(await house.alone(figure.model, samples))
        figure.perRunMs.push(await house.many(figure.model, runs))
      }
    }
    await house.close()
    return figures
  } finally {
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(children.map((child) => ended(child)))
    await server.stop()
  }
}

function startWorker({ url, folder }: Place, slots: number): ChildProcess {
  const env = {
    ...process.env,
    DATABASE_URL: url,
    HOLDFAST_DATA_DIR: join(folder, 'data'),
    HOLDFAST_ARTIFACTS_DIR: join(folder, 'artifacts'),
    HOLDFAST_MODELS: MODELS,
    HOLDFAST_CONCURRENCY: String(slots),
    HOLDFAST_LOG_LEVEL: 'error',
  }
  return spawn(process.execPath, [PROGRAM, 'worker'], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
}

export function report(figures: Figures[], { rounds, runs, slots }: Options): string {
  const ms = (value: number) => value.toFixed(value < 10 ? 2 : 1).padStart(12)
  const lines = figures.map(({ model, aloneMs, perRunMs }) => {
    const perRun = median(perRunMs)
    return `${model.padEnd(20)}${ms(median(aloneMs))}${ms(perRun)}${Math.round(1_000 / perRun)
      .toLocaleString('en-US')
      .padStart(10)}`
  })
  return [
    `no-op runs with and without steps, ${rounds} rounds in turns, ${runs} runs with ${slots} at once for the second figure`,
    `${''.padEnd(20)}${'alone ms'.padStart(12)}${'per run ms'.padStart(12)}${'runs/s'.padStart(10)}`,
    ...lines,
    ...EXECUTORS.flatMap((executor) => [
      markOf(figures, executor, 'per run', ({ perRunMs }) => perRunMs),
      markOf(figures, executor, 'alone', ({ aloneMs }) => aloneMs),
    ]),
  ].join('\n')
}

function markOf(figures: Figures[], executor: string, what: string, of: (figure: Figures) => number[]): string {
  const [five, plain] = ['five_steps', 'plain'].map((kind) =>
    of(figures.find(({ model }) => model === `${kind}_${executor}`)!),
  )
  const { median: ratio, min, max } = spread(ratios(five!, plain!))
  const verdict = ratio <= MARK_RATIO ? 'reached' : 'missed'
  return (
    `five no-op steps ÷ one no-op run, ${executor}, ${what}: ${ratio.toFixed(2)} ` +
    `(${min.toFixed(2)}–${max.toFixed(2)}), mark ≤ ${MARK_RATIO}: ${verdict}`
  )
}
