/**
 * Brings the schema `holdfast` up to date.
 *
 * Forward only; each migration in a transaction of its own, together with the row that records it. One migrator at a time: a second one
 * waits for a session lock, then finds nothing to do. A migration never waits long for a table lock, because everybody
 * behind it in the lock's queue would wait as well; it gives up, lets them pass and tries again.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { type Migration, readMigrations } from './migration-files.ts'
import { isLockTimeout, isSerializationFailure } from './pg-errors.ts'

const LOCK_KEY = 4600_0001
const LOCK_POLL_MS = 50
const LOCK_WAIT_MS_MAX = 600_000
const TRIES_MAX = 60

const APPLIED = 'SELECT name, sha256, breaking FROM holdfast.schema_migrations ORDER BY name'
const RECORD = 'INSERT INTO holdfast.schema_migrations (name, sha256, breaking) VALUES ($1, $2, $3)'
const SESSION = `
  SET LOCAL search_path = holdfast, pg_catalog;
  SET LOCAL lock_timeout = '2s';
  SET LOCAL statement_timeout = 0`
const CREATE_RECORD_TABLE = `
  CREATE TABLE IF NOT EXISTS holdfast.schema_migrations (
    name       text PRIMARY KEY,
    sha256     text NOT NULL,
    breaking   boolean NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT statement_timestamp()
  )`

export type MigrateOptions = { folder?: URL | string; onApply?: (name: string) => void }

type Applied = { name: string; sha256: string; breaking: boolean }

/** The database was migrated by something this program does not match; the message says the cure. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused'
}

/** Needs a direct connection, not a transaction-pooled one: the lock belongs to the session. */
export async function migrate(
  connection: pg.Pool | pg.ClientBase,
  { folder, onApply = () => {} }: MigrateOptions = {},
): Promise<{ applied: string[]; already: string[] }> {
  const migrations = await readMigrations(folder)
  return onOneClient(connection, async (client) => {
    await lock(client)
    try {
      await createRecord(client)
      const { pending, already } = compare(migrations, await readApplied(client))
      for (const migration of pending) {
        await applyPatiently(client, migration)
        onApply(migration.name)
      }
      return { applied: pending.map(({ name }) => name), already }
    } finally {
      // A lost connection has let go of the lock by itself.
      await client.query('SELECT pg_advisory_unlock($1)', [LOCK_KEY]).catch(() => {})
    }
  })
}

/** The names `migrate` would apply; takes no lock. Rejects with MigrationRefused where `migrate` would. */
export async function pendingMigrations(
  connection: pg.Pool | pg.ClientBase,
  { folder }: Pick<MigrateOptions, 'folder'> = {},
): Promise<string[]> {
  const migrations = await readMigrations(folder)
  const applied = await onOneClient(connection, readApplied)
  return compare(migrations, applied).pending.map(({ name }) => name)
}

function compare(migrations: Migration[], applied: Applied[]): { pending: Migration[]; already: string[] } {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const { name, sha256, breaking } of applied) {
    const migration = known.get(name)
    if (!migration && breaking) {
      throw new MigrationRefused(
        `A newer Holdfast has migrated this database (${name}) in a way this version cannot work with. Update this program.`,
      )
    }
    if (migration && migration.sha256 !== sha256) {
      throw new MigrationRefused(
        `The migration ${name} was applied with other contents than the file has now. Restore the file; put changes in a new one.`,
      )
    }
  }
  const appliedNames = new Set(applied.map(({ name }) => name))
  const pending = migrations.filter(({ name }) => !appliedNames.has(name))
  const newestKnown = migrations.findLast(({ name }) => appliedNames.has(name))
  const late = pending.find(({ name }) => newestKnown && name < newestKnown.name)
  if (late) {
    throw new MigrationRefused(
      `The migration ${late.name} comes before ${newestKnown?.name}, which is applied. Renumber it.`,
    )
  }
  return { pending, already: migrations.filter(({ name }) => appliedNames.has(name)).map(({ name }) => name) }
}

/** Polls, because a statement that waits for the lock would hold a snapshot all the while. */
async function lock(client: pg.ClientBase): Promise<void> {
  const deadline = performance.now() + LOCK_WAIT_MS_MAX
  for (;;) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS taken', [LOCK_KEY])
    if (rows[0].taken) return
    if (performance.now() > deadline)
      throw new Error('Another migration of this database has not ended in ten minutes.')
    await delay(LOCK_POLL_MS)
  }
}

/** Looks before it creates: an owner of the schema need not have the right to create schemas. */
async function createRecord(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query(`SELECT to_regnamespace('holdfast') IS NOT NULL AS there`)
  if (!rows[0].there) await client.query('CREATE SCHEMA holdfast')
  await client.query(CREATE_RECORD_TABLE)
}

async function readApplied(client: pg.ClientBase): Promise<Applied[]> {
  const { rows } = await client.query(`SELECT to_regclass('holdfast.schema_migrations') IS NOT NULL AS there`)
  return rows[0].there ? (await client.query<Applied>(APPLIED)).rows : []
}

async function applyPatiently(client: pg.ClientBase, migration: Migration): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await apply(client, migration)
    } catch (error) {
      if (!(isLockTimeout(error) || isSerializationFailure(error)) || tries >= TRIES_MAX) {
        throw new Error(`The migration ${migration.name} failed: ${(error as Error).message}`, { cause: error })
      }
      await delay(100 + Math.random() * 400)
    }
  }
}

async function apply(client: pg.ClientBase, { name, sql, sha256, breaking }: Migration): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query(SESSION)
    await client.query(sql)
    await client.query(RECORD, [name, sha256, breaking])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

async function onOneClient<T>(
  connection: pg.Pool | pg.ClientBase,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  if (!('totalCount' in connection)) return work(connection)
  const client = await connection.connect()
  try {
    const result = await work(client)
    client.release()
    return result
  } catch (error) {
    client.release(error as Error)
    throw error
  }
}
