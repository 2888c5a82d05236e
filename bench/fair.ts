/**
 * `npm run bench -- fair`: what fair share costs a drain. The same runs of 1, 10 and 1,000 owners in a queue with fair share, each beside a drain
 * of the same round without it. One worker process; the runs are written by SQL, so that all begin with the same tables.
 */

import { parseArgs } from 'node:util'
import pg from 'pg'
import { type Bench, inRounds, type Measured } from './bench.ts'
import type { Place } from './contender.ts'
import { drainedPerSecond } from './drain.ts'
import { PAST } from './fill-runs.ts'
import { contender } from './holdfast.ts'
import { UNFAIR } from './marks.ts'
import { readOptions } from './options.ts'
import { jsonReport, textReport } from './report.ts'
import { startServer } from './server.ts'

const OWNERS = [1, 10, 1_000]
/** A hundred of each owner where there are most. */
const RUNS = 100_000
const HELP = `npm run bench -- fair [options]

  --rounds <n>  interleaved rounds (5)
  --runs <n>    runs of one drain (${RUNS})
  --quick       one small round: shows that it works
  --json        the figures as JSON`

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      runs: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  const given = readOptions(args)
  const options = values.runs || values.quick ? given : { ...given, runs: RUNS }
  const server = await startServer()
  try {
    await server.install(contender)
    const progress = (line: string) => console.error(`${Math.round(performance.now() / 1_000)} s  ${line}`)
    const bench: Bench = { server, contenders: [contender], options, numbers: () => [], progress }
    const measured = await measureFair(bench)
    const surroundings = {
      machine: `Node ${process.versions.node}; ${options.rounds} interleaved rounds`,
      postgres: server.settings,
      contenders: { holdfast: contender.settings },
    }
    console.log(values.json ? jsonReport(surroundings, measured) : textReport(surroundings, measured))
  } finally {
    await server.stop()
  }
}

async function measureFair(bench: Bench): Promise<Measured[]> {
  const { server, options } = bench
  const title = `drain of ${options.runs.toLocaleString('en-US')} no-op runs by one worker process`
  const subjects = [
    { name: UNFAIR, owners: 1_000, fair: false },
    ...OWNERS.map((owners) => ({ name: `fair, owners: ${owners.toLocaleString('en-US')}`, owners, fair: true })),
  ]
  const series = await inRounds(bench, title, subjects, async (subject) => {
    const place = await server.fresh(contender)
    await fillOwned(place, { ...subject, runs: options.runs })
    await server.rest(place)
    return drainedPerSecond(contender, place, options.runs, 'empty')
  })
  return [{ id: 'fair', title, unit: 'runs/s', series }]
}

const FAIR = `INSERT INTO queues (queue, fair_share) VALUES ('default', true) ON CONFLICT (queue) DO UPDATE SET fair_share = true`
const lanes = (owners: number, fair: boolean) => `
INSERT INTO lanes (lane, queue, model, model_version, priority, owner) OVERRIDING SYSTEM VALUE
${
  fair
    ? `SELECT nextval('fair_lanes'), 'default', 'noop', '1', 0, 'owner-' || n FROM generate_series(0, ${owners - 1}) AS n`
    : `SELECT nextval(pg_get_serial_sequence('lanes', 'lane')), 'default', 'noop', '1', 0, ''`
}`
const runs = (owners: number, fair: boolean) => `
INSERT INTO model_runs (id, owner, model, model_version, queue, priority, lane, executor, parameters, payload_hash, seed, created_at,
  available_at, timeout_seconds, max_attempts, event_seq)
SELECT id, 'owner-' || n % ${owners}, 'noop', '1', 'default', 0, l.lane, 'inline', jsonb_build_object('n', n), payload_hash, n, at, at, 86400, 3, 1
FROM past JOIN lanes l ON l.owner = ${fair ? `'owner-' || n % ${owners}` : `''`} ORDER BY n`
const FOUND = [
  `INSERT INTO run_events (run_id, seq, type, at, status) SELECT id, 1, 'created', at, 'PENDING' FROM past ORDER BY n`,
  `INSERT INTO run_search (run_id, created_at, owner, model, model_version, queue, payload_hash)
   SELECT id, created_at, owner, model, model_version, queue, payload_hash FROM model_runs ORDER BY created_at, id`,
  'UPDATE run_stats_cursor SET counted = pg_current_snapshot()',
  `INSERT INTO fair_owners (queue, owner, model, model_version, pass) SELECT queue, owner, model, model_version, 0 FROM lanes WHERE owner <> ''`,
]

type Fill = { runs: number; owners: number; fair: boolean }

async function fillOwned(place: Place, { runs: count, owners, fair }: Fill): Promise<void> {
  const client = new pg.Client({ connectionString: place.url })
  await client.connect()
  try {
    await client.query('SET search_path = holdfast, pg_catalog')
    if (fair) await client.query(FAIR)
    for (const statement of [lanes(owners, fair), PAST(count), runs(owners, fair), ...FOUND])
      await client.query(statement)
  } finally {
    await client.end()
  }
}
