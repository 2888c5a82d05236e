/**
 * The one Postgres all contenders share: the embedded server with the settings the service starts it with, in a
 * temporary folder, or the one at DATABASE_URL. Each contender has a template database, and measures on fresh copies
 * of it.
 */

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '../src/store/embedded/embedded.ts'
import { isAlive } from '../src/store/embedded/process-state.ts'
import type { Contender, Place } from './contender.ts'

const PREFIX = 'holdfast_bench_'
const FOLDER_PREFIX = 'holdfast-bench-'
const SHOWN = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size']

export type Server = {
  settings: Record<string, string>
  install(contender: Contender): Promise<void>
  /** An empty database of this contender, in place of the last one with that label. */
  fresh(contender: Contender, label?: string): Promise<Place>
  /**
   * Brings tables and disk to rest: statistics, visibility map, checkpoint. The same for everyone before each
   * measurement.
   */
  rest(place: Place): Promise<void>
  drop(place: Place): Promise<void>
  stop(): Promise<void>
}

export async function startServer(): Promise<Server> {
  await removeAbandonedFolders()
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`))
  const { url, isOurs, stop } = await findPostgres(folder).catch(async (error) => {
    await rm(folder, { recursive: true, force: true })
    throw error
  })
  const admin = new pg.Client({ connectionString: url })
  // A server that goes away is told of by the query that misses it.
  admin.on('error', () => {})
  await admin.connect()
  const made = new Set<string>()
  let stopping: Promise<void> | undefined

  async function dropDatabase(name: string): Promise<void> {
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    made.delete(name)
  }

  async function createDatabase(name: string, template?: string): Promise<Place> {
    await dropDatabase(name)
    await admin.query(`CREATE DATABASE ${name}${template ? ` TEMPLATE ${template}` : ''}`)
    made.add(name)
    const place = new URL(url)
    place.pathname = `/${name}`
    return { url: place.href, folder }
  }

  return {
    settings: await readSettings(admin),
    async install(contender) {
      await contender.install(await createDatabase(nameOf(contender, 'template')))
    },
    fresh: (contender, label = 'run') => createDatabase(nameOf(contender, label), nameOf(contender, 'template')),
    async rest(place) {
      await query(place, 'VACUUM (ANALYZE)')
      await admin.query('CHECKPOINT')
    },
    drop: (place) => dropDatabase(new URL(place.url).pathname.slice(1)),
    stop() {
      stopping ??= stopAll()
      return stopping
    },
  }

  async function stopAll(): Promise<void> {
    if (!isOurs) for (const name of made) await dropDatabase(name).catch(() => {})
    void admin.end().catch(() => {})
    await stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

export async function query(place: Place, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: place.url })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

async function findPostgres(folder: string): Promise<{ url: string; isOurs: boolean; stop(): Promise<void> }> {
  const given = process.env.DATABASE_URL
  if (given) return { url: given, isOurs: false, stop: async () => {} }
  const embedded = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: () => {} })
  return { url: embedded.url, isOurs: true, stop: () => embedded.stop() }
}

/** A benchmark that was killed could not tidy up; its folder carries its process id. */
async function removeAbandonedFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(FOLDER_PREFIX) && Number.parseInt(name.slice(FOLDER_PREFIX.length), 10)
    if (pid && !isAlive(pid)) await rm(join(tmpdir(), name), { recursive: true, force: true })
  }
}

async function readSettings(admin: pg.Client): Promise<Record<string, string>> {
  const { rows } = await admin.query<{ name: string; value: string }>(
    'SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name',
    [SHOWN],
  )
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

function nameOf({ name }: Contender, label: string): string {
  return `${PREFIX}${name.replaceAll('-', '_')}_${label}`
}
