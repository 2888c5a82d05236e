/**
 * A database of its own for each test (file): a clone of a migrated template, which is made once per server and set of migrations.
 */

import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import { openPool } from '../../src/store/connect.ts'
import { migrate } from '../../src/store/migrate.ts'
import { readMigrations } from '../../src/store/migration-files.ts'
import { type ServerVersion, serverUrl } from './postgres-versions.ts'

const TEMPLATE_LOCK_KEY = 4600_0002

export type TestDatabase = {
  url: string
  /** With the search path and the types of the program's own connections. */
  pool: pg.Pool
  query<Row extends pg.QueryResultRow = Record<string, unknown>>(sql: string, values?: unknown[]): Promise<Row[]>
  /** Moves the database's clock to now plus the interval, e.g. '1 hour' or '-5 seconds'. */
  shiftClock(interval: string): Promise<void>
  /** Ends the pool and drops the database with whoever is still connected. */
  drop(): Promise<void>
}

export async function createTestDatabase(
  options: { server?: ServerVersion; migrated?: boolean } = {},
): Promise<TestDatabase> {
  const { server = '18', migrated = true } = options
  const name = `holdfast_test_${randomBytes(8).toString('hex')}`
  await asAdmin(server, async (admin) => {
    const template = migrated ? await ensureTemplate(admin, server) : 'template0'
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} ${await copyStrategy(admin)}`)
  })
  const url = urlOf(server, name)
  const pool = openPool({ url, name: 'test', max: 10 })
  const query: TestDatabase['query'] = async (sql, values) => (await pool.query(sql, values)).rows
  return {
    url,
    pool,
    query,
    async shiftClock(interval) {
      await query(
        `CREATE OR REPLACE FUNCTION holdfast.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
         AS $$ SELECT statement_timestamp() + interval ${pg.escapeLiteral(interval)} $$`,
      )
    },
    async drop() {
      await pool.end()
      await asAdmin(server, (admin) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
    },
  }
}

/** Built under another name and renamed, so that a template that exists is complete; nobody may connect to it then. */
async function ensureTemplate(admin: pg.Client, server: ServerVersion): Promise<string> {
  const name = await templateName()
  if (await exists(admin, name)) return name
  await admin.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK_KEY])
  try {
    if (await exists(admin, name)) return name
    await admin.query(`DROP DATABASE IF EXISTS ${name}_draft WITH (FORCE)`)
    await admin.query(`CREATE DATABASE ${name}_draft TEMPLATE template0 ${await copyStrategy(admin)}`)
    const client = new pg.Client({ connectionString: urlOf(server, `${name}_draft`) })
    await client.connect()
    await migrate(client).finally(() => client.end())
    await admin.query(`ALTER DATABASE ${name}_draft ALLOW_CONNECTIONS false`)
    await admin.query(`ALTER DATABASE ${name}_draft RENAME TO ${name}`)
    return name
  } finally {
    await admin.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK_KEY])
  }
}

async function templateName(): Promise<string> {
  const hash = createHash('sha256')
  for (const { name, sha256 } of await readMigrations()) hash.update(`${name} ${sha256}\n`)
  return `holdfast_template_${hash.digest('hex').slice(0, 16)}`
}

/** Copying files takes a third of the time of the default since version 15, which writes every page to the WAL. */
async function copyStrategy(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query(`SELECT current_setting('server_version_num')::integer AS version`)
  return rows[0].version >= 150_000 ? 'STRATEGY file_copy' : ''
}

async function exists(admin: pg.Client, name: string): Promise<boolean> {
  return (await admin.query('SELECT FROM pg_database WHERE datname = $1', [name])).rowCount === 1
}

function urlOf(server: ServerVersion, database: string): string {
  const url = new URL(serverUrl(server))
  url.pathname = `/${database}`
  return url.href
}

async function asAdmin<T>(server: ServerVersion, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: serverUrl(server) })
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.end()
  }
}
