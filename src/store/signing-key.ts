/** The keys that the service signs with, each made once by whoever needs it first and kept in the database for all processes. */

import { randomBytes } from 'node:crypto'
import type pg from 'pg'

const KEEP = `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`
const READ = `SELECT value FROM settings WHERE name = $1`

export async function signingKey(pool: pg.Pool, key: 'unsubscribe'): Promise<string> {
  const name = `key_${key}`
  const found = await read(pool, name)
  if (found !== null) return found
  await pool.query(KEEP, [name, randomBytes(32).toString('base64url')])
  // Somebody else may have been first; a new statement sees whose it is.
  return (await read(pool, name))!
}

async function read(pool: pg.Pool, name: string): Promise<string | null> {
  const { rows } = await pool.query<{ value: string }>(READ, [name])
  return rows[0]?.value ?? null
}
