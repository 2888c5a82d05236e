/**
 * A live service and the cost of its runs: `alone` from the submit of one run to its end, `many` from the first start to the last end
 * divided by their number. All times are the database's.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import pg from 'pg'
import type { Place } from './contender.ts'
import { median } from './statistics.ts'

const LOOK_MS = 10
const PATIENCE_MS = 120_000

export async function startApi({ url, folder }: Place, children: ChildProcess[]): Promise<string> {
  const child = fork(new URL('./http-api.ts', import.meta.url), [url, folder], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  children.push(child)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return `http://127.0.0.1:${port}`
}

export type House = {
  warm(model: string, runs: number): Promise<void>
  alone(model: string, samples: number): Promise<number>
  many(model: string, runs: number): Promise<number>
  close(): Promise<void>
}

export async function openHouse({ url }: Place, api: string): Promise<House> {
  const database = new pg.Client({ connectionString: url })
  // A server that goes away is told of by the query that misses it.
  database.on('error', () => {})
  await database.connect()
  let used = 0

  async function post(path: string, body: unknown): Promise<Response> {
    const headers = { 'content-type': 'application/json' }
    return fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  /** The ids of the runs. */
  async function submit(model: string, count: number): Promise<string[]> {
    const runs = Array.from({ length: count }, () => ({ model, parameters: { n: ++used }, dedupe: 'off' }))
    const { data } = (await (await post('/runs/batch', { runs })).json()) as { data: { run?: { run_id: string } }[] }
    return data.map(({ run }) => {
      if (!run) throw new Error(`a run of ${model} was refused`)
      return run.run_id
    })
  }

  async function end(model: string, ids: string[]): Promise<{ aloneMs: number; spanMs: number }> {
    const { rows } = await until(`${ids.length} runs of ${model} end`, async () => {
      const answer = await database.query<{ left: number; failed: number; alone_ms: number; span_ms: number }>(ENDED, [
        ids,
      ])
      return answer.rows[0]!.left === 0 && answer
    })
    if (rows[0]!.failed > 0) throw new Error(`${rows[0]!.failed} of ${ids.length} runs did not succeed`)
    return { aloneMs: rows[0]!.alone_ms, spanMs: rows[0]!.span_ms }
  }

  return {
    async warm(model, runs) {
      await until(`${model} is registered`, async () => (await fetch(`${api}/models/${model}`)).status === 200)
      await end(model, await submit(model, runs))
    },
    async alone(model, samples) {
      const taken: number[] = []
      for (let sample = 0; sample < samples; sample += 1) taken.push((await end(model, await submit(model, 1))).aloneMs)
      return median(taken)
    },
    async many(model, runs) {
      const ids: string[] = []
      while (ids.length < runs) ids.push(...(await submit(model, Math.min(1_000, runs - ids.length))))
      return (await end(model, ids)).spanMs / runs
    },
    close: () => database.end(),
  }
}

const ENDED = `
SELECT count(*) FILTER (WHERE finished_at IS NULL)::int AS left, count(*) FILTER (WHERE status = 'FAILED')::int AS failed,
  (extract(epoch FROM max(finished_at - created_at)) * 1000)::float8 AS alone_ms,
  (extract(epoch FROM max(finished_at) - min(started_at)) * 1000)::float8 AS span_ms
FROM holdfast.model_runs WHERE id = ANY($1::uuid[])`

async function until<T>(what: string, check: () => Promise<T | false>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const found = await check().catch((error: Error) => {
      if (performance.now() > deadline) throw error
      return false as const
    })
    if (found) return found
    if (performance.now() > deadline) throw new Error(`gave up waiting until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** Those that do not end when they are asked to are ended. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000)
  await once(child, 'exit')
  clearTimeout(timer)
}
