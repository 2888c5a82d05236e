/**
 * Where the database stands: its identity, its time and its moment, as a place in the feed.
 *
 * The identity changes when the database is another one: restored elsewhere, or brought back to an earlier time. A
 * moment is told only when everything in it is on disk. After a crash Postgres gives the numbers of transactions that
 * left no trace there to new ones; a reader that had passed such a number would take the new transaction for an old
 * one.
 */

import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { isSameMoment, type Moment, parseMoment } from '../run/moment.ts'
import { isNotOffered } from './pg-errors.ts'
import type { FeedPlace } from './ports/feed.ts'

const DATABASE = '(SELECT oid FROM pg_database WHERE datname = current_database())::text'

const NOW = `
SELECT pg_current_snapshot()::text AS moment, date_part('epoch', clock()) * 1000 AS at_ms,
  (SELECT system_identifier FROM pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/'
    || ${DATABASE} AS identity,
  pg_current_wal_insert_lsn()::text AS written, pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() AS durable`

/** Where the server does not offer the above to its users, which some managed ones do not. */
const PLAIN_NOW = `
SELECT pg_current_snapshot()::text AS moment, date_part('epoch', clock()) * 1000 AS at_ms, ${DATABASE} AS identity,
  '0/0' AS written, true AS durable`

const IS_DURABLE = 'SELECT pg_current_wal_flush_lsn() >= $1::pg_lsn AS durable'

/**
 * Commits and rollbacks nobody waits for are written to disk by the server within 600 ms; other records may stay
 * longer.
 */
const DURABLE_MS_MAX = 1_000
const DURABLE_POLL_MS = 10

type Row = { moment: string; at_ms: number; identity: string; written: string; durable: boolean }

export function createNow(pool: pg.Pool): () => Promise<FeedPlace> {
  let statement = NOW
  let known: Moment | null = null

  async function ask(): Promise<Row> {
    try {
      return (await pool.query<Row>({ text: statement })).rows[0]!
    } catch (error) {
      if (statement === PLAIN_NOW || !isNotOffered(error)) throw error
      statement = PLAIN_NOW
      return (await pool.query<Row>({ text: statement })).rows[0]!
    }
  }

  return async () => {
    const row = await ask()
    const moment = parseMoment(row.moment)
    if (!row.durable && !(known && isSameMoment(known, moment))) await untilDurable(pool, row.written)
    known = moment
    const cluster = createHash('sha256').update(row.identity).digest('hex').slice(0, 16)
    return { cluster, atMs: row.at_ms, moment }
  }
}

async function untilDurable(pool: pg.Pool, written: string): Promise<void> {
  const deadline = performance.now() + DURABLE_MS_MAX
  while (performance.now() < deadline) {
    await delay(DURABLE_POLL_MS)
    const { rows } = await pool.query<{ durable: boolean }>(IS_DURABLE, [written])
    if (rows[0]!.durable) return
  }
}
