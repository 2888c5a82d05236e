/**
 * `npm run chaos:relay -- --events 10000 --seconds-between-kills 1 --fail 0.2`: many events to a receiver that fails while relays are killed.
 * Progress goes to standard error, the figures to standard output; ends with 1 when anything that must hold does not.
 */

import { parseArgs } from 'node:util'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../src/store/embedded/embedded.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openPlace } from '../support/processes.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { CHAOS_SETTINGS, type RelayChaosFigures, relayChaos } from './chaos.ts'

const HELP = `npm run chaos:relay -- [options]

  --events <n>                 events (10000)
  --seconds-between-kills <n>  a relay is killed so often (1)
  --fail <part>                requests that the receiver fails (0.2)
  --relays <n>                 relay processes (4)
  --seconds-of-life <n>        that each relay has at least, once it is up (2)
  --seed <n>                   of failures and kills (1)
  --minutes <n>                how long any part of it may take (60)`

/** Nothing here is to survive the server, which is not what is killed. */
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' }
const SHOWN_MAX = 20

async function main(): Promise<void> {
  const text = (value: string) => ({ type: 'string' as const, default: value })
  const { values } = parseArgs({
    options: {
      events: text('10000'),
      'seconds-between-kills': text('1'),
      fail: text('0.2'),
      relays: text('4'),
      'seconds-of-life': text('2'),
      seed: text('1'),
      minutes: text('60'),
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  const folder = await tempFolder()
  const server = await startEmbeddedPostgres({ dataDir: folder.path, log: () => {}, settings: SETTINGS })
  const pool = new pg.Pool({ connectionString: server.url })
  // Connections that idle when the server stops.
  pool.on('error', () => {})
  const place = await openPlace({ DATABASE_URL: server.url, ...CHAOS_SETTINGS })
  const progress = (line: string) =>
    console.error(`${String(Math.round(performance.now() / 1_000)).padStart(5)} s  ${line}`)
  try {
    await migrate(pool)
    const options = {
      events: Number(values.events),
      fail: Number(values.fail),
      killEveryMs: Number(values['seconds-between-kills']) * 1_000,
      killEveryTaken: 0,
      livesMs: Number(values['seconds-of-life']) * 1_000,
      relays: Number(values.relays),
      seed: Number(values.seed),
      timeoutMs: Number(values.minutes) * 60_000,
    }
    const figures = await relayChaos({ pool, place, url: server.url }, options, progress)
    console.log(report(figures))
    if (figures.violations.length > 0) process.exitCode = 1
  } finally {
    await place.close()
    await pool.end()
    await server.stop()
    await folder.remove()
  }
}

function report({ violations, ...figures }: RelayChaosFigures): string {
  const lines = Object.entries({ ...figures, seconds: Math.round(figures.seconds) }).map(([name, value]) => {
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return `${words.padEnd(18)}${value.toLocaleString('en-US').padStart(10)}`
  })
  const shown = violations.slice(0, SHOWN_MAX).join('\n')
  return [...lines, violations.length === 0 ? 'Everything holds.' : `${violations.length} violations:\n${shown}`].join(
    '\n',
  )
}

await main()
