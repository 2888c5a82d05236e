/**
 * `npm run bench -- http`: submits over HTTP, each with an idempotency key of its own, beside an empty Fastify route, both in
 * processes of their own, in turns. Every submit is a committed run with its key, its slot and its event.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { definitionOf } from '../src/model/model.ts'
import { openStore } from '../src/store/open-store.ts'
import { contender } from './holdfast.ts'
import { type Load, type Loaded, makeLoad } from './http-load.ts'
import { noop } from './noop-model.ts'
import { startServer } from './server.ts'
import { median } from './statistics.ts'

const CONNECTIONS = 50
const MARK_RATIO = 0.4
const MARK_P99_MS = 50

const HELP = `npm run bench -- http [options]

  --rounds <n>   turns of each (5)
  --seconds <n>  of one turn (3)
  --quick        one short turn: shows that it works
  --json         the figures as JSON`

type Round = { empty: Loaded; submit: Loaded }

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '3' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  const count = values.quick ? 1 : Number(values.rounds)
  const seconds = values.quick ? 0.5 : Number(values.seconds)
  const rounds = await measure(count, seconds)
  console.log(values.json ? JSON.stringify(rounds, null, 2) : report(rounds))
}

async function measure(count: number, seconds: number): Promise<Round[]> {
  const server = await startServer()
  const children: ChildProcess[] = []
  try {
    await server.install(contender)
    const place = await server.fresh(contender)
    await registerNoop(place.url)
    const empty = await startProgram('./empty-route.ts', [], children)
    const api = await startProgram('./http-api.ts', [place.url, place.folder], children)
    let used = 0
    const request = () => {
      used += 1
      return submitRequest(used)
    }
    const load = (port: number, forSeconds: number): Load => ({
      port,
      connections: CONNECTIONS,
      seconds: forSeconds,
      request,
      expectedStatus: 201,
    })
    const rounds: Round[] = []
    for (const port of [empty, api]) await makeLoad(load(port, seconds / 2))
    for (let round = 0; round < count; round += 1) {
      await server.rest(place)
      rounds.push({ empty: await makeLoad(load(empty, seconds)), submit: await makeLoad(load(api, seconds)) })
    }
    return rounds
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await server.stop()
  }
}

/** A worker must have offered the model once; none runs here. */
async function registerNoop(url: string): Promise<void> {
  const store = openStore({ url })
  const models = [definitionOf(noop)]
  await store.registerWorker({
    workerId: 'bench',
    host: 'bench',
    pid: 1,
    version: '0',
    queues: ['default'],
    concurrency: 1,
    models,
  })
  await store.close()
}

async function startProgram(file: string, args: string[], children: ChildProcess[]): Promise<number> {
  const child = fork(new URL(file, import.meta.url), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  children.push(child)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return port
}

/** With `dedupe` the slot is looked at beside the key, so all rows a submit can write are written. */
function submitRequest(n: number): Buffer {
  const body = `{"model":"noop","parameters":{"n":${n}},"dedupe":"active"}`
  const head = [
    'POST /runs HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `Idempotency-Key: bench-${process.pid}-${n}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function report(rounds: Round[]): string {
  const ratios = rounds.map(({ empty, submit }) => submit.perSecond / empty.perSecond)
  const ratio = median(ratios)
  const p99 = median(rounds.map(({ submit }) => submit.p99Ms))
  const line = (name: string, figures: Loaded[]) =>
    `${name.padEnd(18)}${Math.round(median(figures.map((f) => f.perSecond)))
      .toLocaleString('en-US')
      .padStart(
        8,
      )}/s   p50 ${median(figures.map((f) => f.p50Ms)).toFixed(1)} ms   p99 ${median(figures.map((f) => f.p99Ms)).toFixed(1)} ms`
  return [
    `submit over HTTP with a key, ${CONNECTIONS} connections, ${rounds.length} rounds in turns`,
    line(
      'empty route',
      rounds.map(({ empty }) => empty),
    ),
    line(
      'submit',
      rounds.map(({ submit }) => submit),
    ),
    `ratio ${ratio.toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}), mark ≥ ${MARK_RATIO}: ${ratio >= MARK_RATIO ? 'reached' : 'missed'}`,
    `p99 ${p99.toFixed(1)} ms, mark < ${MARK_P99_MS}: ${p99 < MARK_P99_MS ? 'reached' : 'missed'}`,
  ].join('\n')
}
