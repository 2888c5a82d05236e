/**
 * `npm run bench -- executors`: what a run costs on each executor beside its own work, with models that do nothing.
 *
 * `alone` is from the submit of one run to its end, while nothing else runs. `per run` is the time from the first start to the last end of many runs, divided by
 * their number, with some at once. All times are the database's. The executors take turns in each round; all workers stay up meanwhile.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Place } from './contender.ts'
import { contender } from './holdfast.ts'
import { ended, openHouse, startApi } from './live-runs.ts'
import { startServer } from './server.ts'
import { median } from './statistics.ts'

const FOLDER = fileURLToPath(new URL('./executors', import.meta.url))
const PROGRAM = fileURLToPath(new URL('../bin/holdfast.js', import.meta.url))
const MARK_JOB_TO_POOL = 100
const MARK_POOL_TO_REMOTE = 3

const HELP = `npm run bench -- executors [options]

  --rounds <n>    turns of each executor (3)
  --slots <n>     runs at once (8)
  --only <list>   executors between commas
  --ray <url>     the dashboard of a Ray cluster, such as http://127.0.0.1:8265: measures Ray jobs and a Ray pool too
  --python <cmd>  python3 when not given
  --quick         one small turn: shows that it works
  --json          the figures as JSON`

/** `runs` and `samples` fit what one of them costs. */
type Kind = { name: string; model: string; runs: number; samples: number; ray?: boolean }

const KINDS: Kind[] = [
  { name: 'inline', model: 'noop_inline', runs: 2_000, samples: 30 },
  { name: 'process', model: 'noop_process', runs: 2_000, samples: 30 },
  { name: 'command', model: 'noop_command', runs: 100, samples: 10 },
  { name: 'remote, Node', model: 'noop_node', runs: 1_000, samples: 30 },
  { name: 'remote, Python', model: 'noop_python', runs: 1_000, samples: 30 },
  { name: 'ray pool', model: 'noop_ray_pool', runs: 1_000, samples: 30, ray: true },
  { name: 'ray job', model: 'noop_ray_job', runs: 8, samples: 2, ray: true },
]

type Options = { rounds: number; slots: number; kinds: Kind[]; ray: string | null; python: string }
type Figures = { name: string; runs: number; aloneMs: number[]; perRunMs: number[] }

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      slots: { type: 'string', default: '8' },
      only: { type: 'string' },
      ray: { type: 'string' },
      python: { type: 'string', default: 'python3' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  const { ray = null, python, quick } = values
  const only = values.only?.split(',').map((name) => name.trim())
  const options: Options = {
    rounds: Number(values.rounds ?? (quick ? 1 : 3)),
    slots: Number(values.slots),
    kinds: KINDS.filter((kind) => (!kind.ray || ray) && (!only || only.some((name) => kind.name.startsWith(name)))).map(
      (kind) => (quick ? { ...kind, runs: Math.ceil(kind.runs / 10), samples: Math.ceil(kind.samples / 10) } : kind),
    ),
    ray,
    python,
  }
  const figures = await measure(options)
  console.log(values.json ? JSON.stringify(figures, null, 2) : report(figures, options))
}

async function measure(options: Options): Promise<Figures[]> {
  const server = await startServer()
  const children: ChildProcess[] = []
  try {
    await server.install(contender)
    const place = await server.fresh(contender)
    const api = await startApi(place, children)
    startWorkers(place, api, options, children)
    const house = await openHouse(place, api)
    const figures: Figures[] = options.kinds.map(({ name, runs }) => ({ name, runs, aloneMs: [], perRunMs: [] }))
    for (const { model, runs } of options.kinds) await house.warm(model, Math.min(runs, 4 * options.slots))
    for (let round = 0; round < options.rounds; round += 1) {
      for (const [index, { name, model, runs, samples }] of options.kinds.entries()) {
        console.error(`${Math.round(performance.now() / 1_000)} s  round ${round + 1}, ${name}`)
        figures[index]!.aloneMs.push(await house.alone(model, samples))
        figures[index]!.perRunMs.push(await house.many(model, runs))
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

function startWorkers({ url, folder }: Place, api: string, options: Options, children: ChildProcess[]): void {
  const { slots, ray, python, kinds } = options
  const start = (command: string, args: string[], env?: Record<string, string>) => {
    const environment = { ...process.env, ...env }
    children.push(spawn(command, args, { cwd: folder, env: environment, stdio: ['ignore', 'ignore', 'inherit'] }))
  }
  const offered = (name: string) => kinds.some((kind) => kind.name === name)
  const models = ['functions.ts', 'command.yaml', ...(ray ? ['ray.yaml'] : [])]
  start(process.execPath, [PROGRAM, 'worker'], {
    DATABASE_URL: url,
    HOLDFAST_DATA_DIR: join(folder, 'data'),
    HOLDFAST_ARTIFACTS_DIR: join(folder, 'artifacts'),
    HOLDFAST_MODELS: models.map((file) => join(FOLDER, file)).join(','),
    HOLDFAST_CONCURRENCY: String(slots),
    HOLDFAST_LOG_LEVEL: 'error',
    HOLDFAST_PUBLIC_URL: api,
    ...(ray && { HOLDFAST_RAY_CLUSTERS: `default=${ray}`, HOLDFAST_RAY_POOLS: `pool:${slots}` }),
  })
  if (offered('remote, Node')) start(process.execPath, [join(FOLDER, 'node-worker.ts'), api, String(slots)])
  if (offered('remote, Python')) start(python, ['-B', join(FOLDER, 'python_worker.py'), api, String(slots)])
}

function report(figures: Figures[], { rounds, slots }: Options): string {
  const inline = figures.find(({ name }) => name === 'inline')
  const ms = (value: number) => value.toFixed(value < 10 ? 2 : 0).padStart(9)
  const lines = figures.map(({ name, runs, aloneMs, perRunMs }) => {
    const perRun = median(perRunMs)
    const times = inline ? `${(perRun / median(inline.perRunMs)).toFixed(1).padStart(9)}` : ''
    return `${name.padEnd(16)}${ms(median(aloneMs))}${ms(perRun)}${times}   ${runs}`
  })
  return [
    `overhead of a run, no-op models, ${rounds} rounds in turns, ${slots} runs at once for the second figure`,
    `${''.padEnd(16)}${'alone ms'.padStart(9)}${'per run'.padStart(9)}${inline ? '× inline'.padStart(9) : ''}   runs`,
    ...lines,
    ...marks(figures),
  ].join('\n')
}

function marks(figures: Figures[]): string[] {
  const of = (name: string) => {
    const found = figures.find((one) => one.name === name)
    return found && median(found.perRunMs)
  }
  const [job, pool, remote] = [of('ray job'), of('ray pool'), of('remote, Python')]
  const line = (what: string, ratio: number, isReached: boolean, mark: string) =>
    `${what} ${ratio.toFixed(1)}, mark ${mark}: ${isReached ? 'reached' : 'missed'}`
  const lines: string[] = []
  if (job && pool) {
    const ratio = job / pool
    lines.push(line('ray job ÷ ray pool', ratio, ratio >= MARK_JOB_TO_POOL, `≥ ${MARK_JOB_TO_POOL}`))
  }
  if (pool && remote) {
    const ratio = pool / remote
    lines.push(line('ray pool ÷ remote worker', ratio, ratio <= MARK_POOL_TO_REMOTE, `≤ ${MARK_POOL_TO_REMOTE}`))
  }
  return lines
}
