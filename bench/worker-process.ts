/**
 * The program of a worker process: one contender, told by its parent when to begin and what to report.
 *
 * `empty`: the time from the first start until the database says that nothing is left. `done`: the time until that
 * many runs are over, others may wait. `starts`: the moment of each start. `counts`: how many are over, often.
 */

import pg from 'pg'
import type { Aim } from './contender.ts'
import { loadContender } from './contenders.ts'

export type Begin = { report: 'empty' | 'done' | 'starts' | 'counts'; runs: number }

export type Report =
  | { type: 'loaded' }
  | { type: 'working' }
  | { type: 'drained'; ms: number }
  | { type: 'start'; n: number; atNs: string }
  | { type: 'count'; done: number }

const COUNT_EVERY_MS = 25
const LOOK_EVERY_MS = 5

const [name = '', url = '', folder = '', aim] = process.argv.slice(2)
const contender = await loadContender(name)
process.on('disconnect', () => process.exit())
process.once('message', (begin: Begin) => void work(begin))
tell({ type: 'loaded' })

async function work({ report, runs }: Begin): Promise<void> {
  let started = 0
  let done = 0
  let firstAtMs = 0

  const drained = () => tell({ type: 'drained', ms: performance.now() - firstAtMs })
  await contender.startWorker({ url, folder }, aim as Aim, {
    onStart(n) {
      started += 1
      if (started === 1) firstAtMs = performance.now()
      if (report === 'starts') tell({ type: 'start', n, atNs: String(process.hrtime.bigint()) })
      if (report === 'empty' && started === runs) void untilEmpty().then(drained)
    },
    onDone() {
      done += 1
      if (report === 'done' && done === runs) drained()
    },
  })
  if (report === 'counts') setInterval(() => tell({ type: 'count', done }), COUNT_EVERY_MS)
  tell({ type: 'working' })
}

async function untilEmpty(): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (;;) {
    const { rows } = await client.query({ text: contender.drainedQuery, rowMode: 'array' })
    if (rows[0]?.[0]) return client.end()
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

function tell(report: Report): void {
  process.send?.(report)
}
