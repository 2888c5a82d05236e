/**
 * `npm run chaos:documents -- --count 10000 --kills 200`: many documents through the service while its workers are killed. Progress goes to
 * standard error, the figures to standard output; ends with 1 when anything that must hold does not.
 */

import { parseArgs } from 'node:util'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../src/store/embedded/embedded.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openPlace } from '../support/processes.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { type ChaosFigures, documentChaos } from './chaos.ts'
import { shown } from './verify.ts'

const HELP = `npm run chaos:documents -- [options]

  --count <n>    documents (10000), of which 5 % are duplicates and 1 % broken
  --kills <n>    workers killed (200); the API is killed once for each 20 of them
  --workers <n>  worker processes (3)
  --slots <n>    runs at once in each (3)
  --seed <n>     of documents and kills (1)
  --minutes <n>  how long any part of it may take (120)`

/** Nothing here is to survive the server, which is not what is killed. */
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' }

async function main(): Promise<void> {
  const text = (value: string) => ({ type: 'string' as const, default: value })
  const { values } = parseArgs({
    options: {
      count: text('10000'),
      kills: text('200'),
      workers: text('3'),
      slots: text('3'),
      seed: text('1'),
      minutes: text('120'),
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  const folder = await tempFolder()
  const server = await startEmbeddedPostgres({ dataDir: folder.path, log: () => {}, settings: SETTINGS })
  const pool = new pg.Pool({ connectionString: server.url })
  const progress = (line: string) =>
    console.error(`${String(Math.round(performance.now() / 1_000)).padStart(5)} s  ${line}`)
  const place = await openPlace({
    DATABASE_URL: server.url,
    HOLDFAST_LEASE_SECONDS: '3',
    HOLDFAST_CONCURRENCY: values.slots,
  })
  try {
    await migrate(pool)
    const count = Number(values.count)
    const figures = await documentChaos(
      { pool, place },
      {
        count,
        kills: Number(values.kills),
        apiKills: Math.ceil(Number(values.kills) / 20),
        seed: Number(values.seed),
        workers: Number(values.workers),
        batchSize: Math.max(10, Math.ceil(count / 10)),
        uploads: 4,
        duplicates: 0.05,
        broken: 0.01,
        timeoutMs: Number(values.minutes) * 60_000,
      },
      progress,
    )
    console.log(report(figures))
    if (figures.violations.length > 0) process.exitCode = 1
  } finally {
    await place.close()
    await pool.end()
    await server.stop()
    await folder.remove()
  }
}

function report(figures: ChaosFigures): string {
  const { violations, kills, ...rest } = figures
  const lines = Object.entries({ ...rest, seconds: Math.round(rest.seconds) }).map(([name, value]) => {
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return `${words.padEnd(18)}${value.toLocaleString('en-US').padStart(10)}`
  })
  const ways = Object.entries(kills).map(([way, count]) => `${count} ${way}`)
  const verdict =
    violations.length === 0 ? 'Everything holds.' : `${violations.length} violations:\n${shown(violations)}`
  return [...lines, `workers killed: ${ways.join(', ')}`, verdict].join('\n')
}

await main()
