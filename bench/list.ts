/**
 * `npm run bench -- list`: pages of `GET /runs` over HTTP on a million runs, for each filter and each pair of filters, with
 * rare, common and absent values, in both orders, first pages and following ones in turns.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { parseArgs } from 'node:util'
import { fillList } from './fill-list.ts'
import { contender } from './holdfast.ts'
import { type Asked, alone, filtersOf, pairs } from './list-filters.ts'
import { query, startServer } from './server.ts'
import { percentile } from './statistics.ts'

const SAMPLES_WHEN_SLOW = 400
const MARK_P99_MS = 50
const ORDERS = ['created_at_desc', 'created_at_asc']

const HELP = `npm run bench -- list [options]

  --runs <n>     in the database (1000000)
  --samples <n>  pages of each filter and pair (32)
  --all          every pair in the table, not only the slowest
  --quick        small: shows that it works
  --json         the figures as JSON`

type Figures = Asked & { p50Ms: number; p99Ms: number }
type Page = { data: unknown[]; next_cursor: string | null }

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      runs: { type: 'string' },
      samples: { type: 'string' },
      all: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  const runs = Number(values.runs ?? (values.quick ? 20_000 : 1_000_000))
  const samples = Number(values.samples ?? (values.quick ? 4 : 32))
  const figures = await measure(runs, samples)
  console.log(values.json ? JSON.stringify(figures, null, 2) : report(figures, { runs, samples, all: values.all }))
}

async function measure(runs: number, samples: number): Promise<Figures[]> {
  const progress = (line: string) => console.error(`${Math.round(performance.now() / 1_000)} s  ${line}`)
  const server = await startServer()
  let api: ChildProcess | undefined
  try {
    await server.install(contender)
    const place = await server.fresh(contender)
    progress(`filling ${runs} runs`)
    await fillList(place.url, runs)
    await server.rest(place)
    const { rows } = await query(
      place,
      `SELECT created_at FROM holdfast.run_search OFFSET ${Math.floor(runs / 2)} LIMIT 1`,
    )
    api = fork(new URL('./http-api.ts', import.meta.url), [place.url, place.folder], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const [{ port }] = (await once(api, 'message')) as [{ port: number }]
    const page = createReader(port)
    const filters = filtersOf(rows[0].created_at)
    const asked = [{ names: ['everything'], frequencies: [], query: '' }, ...alone(filters), ...pairs(filters)]
    await pagesOf(page, asked[0]!, 200)
    const figures: Figures[] = []
    for (const [no, one] of asked.entries()) {
      if (no % 100 === 0) progress(`${no} of ${asked.length} filters and pairs`)
      let took = await pagesOf(page, one, samples)
      // Of so few pages the slowest alone is the p99; what looks too slow is asked often enough to know.
      if (percentile(took, 99) >= MARK_P99_MS) took = [...took, ...(await pagesOf(page, one, SAMPLES_WHEN_SLOW))]
      figures.push({ ...one, p50Ms: percentile(took, 50), p99Ms: percentile(took, 99) })
    }
    return figures
  } finally {
    api?.kill('SIGKILL')
    await server.stop()
  }
}

/** How long each page took, in milliseconds: per order a first page and then the one that follows it. */
async function pagesOf(page: Reader, { query }: Asked, samples: number): Promise<number[]> {
  const took: number[] = []
  while (took.length < samples) {
    for (const order of ORDERS) {
      const path = `/runs?order=${order}&${query}`
      const first = await page(path)
      took.push(first.ms)
      const cursor = first.page.next_cursor
      took.push((await page(cursor === null ? path : `${path}&cursor=${cursor}`)).ms)
    }
  }
  return took
}

type Reader = (path: string) => Promise<{ page: Page; ms: number }>

/** On one connection; the clock stops when the whole answer is there, before it is parsed. */
function createReader(port: number): Reader {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return async (path) => {
    const start = performance.now()
    const [response] = await once(get({ port, host: '127.0.0.1', path, agent }), 'response')
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const ms = performance.now() - start
    const text = Buffer.concat(chunks).toString()
    if (response.statusCode !== 200) throw new Error(`${path} was answered ${response.statusCode}: ${text}`)
    return { page: JSON.parse(text), ms }
  }
}

function report(figures: Figures[], { runs, samples, all }: { runs: number; samples: number; all: boolean }): string {
  const single = figures.filter(({ names }) => names.length === 1)
  const double = figures.filter(({ names }) => names.length === 2).toSorted((a, b) => b.p99Ms - a.p99Ms)
  const slow = figures.filter(({ p99Ms }) => p99Ms >= MARK_P99_MS)
  const verdict = slow.length === 0 ? 'reached' : `missed by ${slow.length} of ${figures.length}`
  const worst = Math.max(...figures.map(({ p99Ms }) => p99Ms))
  return [
    `pages of 50 of ${runs.toLocaleString('en-US')} runs over HTTP, ${samples} of each`,
    ...single.map(line),
    '',
    all ? `${double.length} pairs` : `the slowest of ${double.length} pairs`,
    ...(all ? double : double.slice(0, 40)).map(line),
    '',
    `p99 of the slowest ${worst.toFixed(1)} ms, mark < ${MARK_P99_MS}: ${verdict}`,
  ].join('\n')
}

function line({ names, frequencies, p50Ms, p99Ms }: Figures): string {
  const asked = names.map((name, no) => (frequencies[no] ? `${name} (${frequencies[no]})` : name)).join(' + ')
  return `${asked.padEnd(52)} p50 ${p50Ms.toFixed(1).padStart(6)} ms   p99 ${p99Ms.toFixed(1).padStart(6)} ms`
}
