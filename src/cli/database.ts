/** Finds the database of a command: DATABASE_URL, or the embedded one of the data folder. */

import { resolve } from 'node:path'
import pg from 'pg'
import { createLogOf } from '../compose-log.ts'
import type { Config } from '../config/config.ts'
import { readEnvironment } from '../config/read-environment.ts'
import { findRunningEmbedded } from '../store/embedded/connection-file.ts'
import { startEmbeddedPostgres } from '../store/embedded/embedded.ts'
import { migrate, pendingMigrations } from '../store/migrate.ts'
import { openStore } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'

export type Database = {
  url: string
  /** Resolves when an embedded server ends by itself. */
  ended: Promise<void>
  stop(): Promise<void>
}

const NEVER = new Promise<void>(() => {})

/** Starts the embedded server when no other database is configured. */
export async function startDatabase(config: Config, log: Log): Promise<Database> {
  if (config.database.url) return { url: config.database.url, ended: NEVER, stop: async () => {} }
  const server = await startEmbeddedPostgres({
    dataDir: resolve(config.database.dataDir),
    log: (line) => log.debug({ postgres: line }, 'postgres'),
  })
  log.info({ data_dir: resolve(config.database.dataDir), port: server.port }, 'embedded Postgres started')
  return { url: server.url, ended: server.exited, stop: () => server.stop() }
}

/** For roles that join a running service: they never start a database of their own, which would end with them. */
export async function findDatabase(config: Config): Promise<string> {
  if (config.database.url) return config.database.url
  const running = await findRunningEmbedded(resolve(config.database.dataDir))
  if (running) return running.url
  throw new Error(
    `no database: DATABASE_URL is not set and no embedded Postgres runs in ${resolve(config.database.dataDir)}. ` +
      'Set DATABASE_URL, or run "holdfast start" in this folder first.',
  )
}

export async function migrateDatabase(url: string): Promise<{ applied: string[]; already: string[] }> {
  return withPool(url, (pool) => migrate(pool))
}

export async function assertMigrated(url: string): Promise<void> {
  const pending = await withPool(url, (pool) => pendingMigrations(pool))
  if (pending.length > 0) {
    throw new Error(`the database lacks the migrations ${pending.join(', ')}. Run "holdfast migrate" first.`)
  }
}

/**
 * A store for a command that does one thing. Without a running service the embedded server is started for as long as it takes, and
 * migrated: before the first start there is no database yet.
 */
export async function withStore(use: (store: Store) => Promise<void>): Promise<void> {
  const config = readEnvironment()
  const running = config.database.url ?? (await findRunningEmbedded(resolve(config.database.dataDir)))?.url
  // What such a command prints is its answer, so nothing is logged between.
  const silent = { ...config, log: { ...config.log, level: 'silent' as const } }
  const own = running ? null : await startDatabase(config, createLogOf(silent, 'migrate'))
  try {
    const url = running ?? own!.url
    if (own) await migrateDatabase(url)
    else await assertMigrated(url)
    const store = openStore({ url, poolMax: 1, name: 'holdfast command' })
    await use(store).finally(() => store.close())
  } finally {
    await own?.stop()
  }
}

async function withPool<T>(url: string, use: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 10_000 })
  pool.on('error', () => {})
  try {
    return await use(pool)
  } finally {
    await pool.end()
  }
}
