/** A connection that stays in hand is one and the same until it breaks, and never keeps its pool from ending. */

import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/until.ts'
import { openPool } from './connect.ts'
import { type KeptConnections, keepConnections, onConnection } from './kept-connection.ts'

let database: TestDatabase
let pool: pg.Pool
let kept: KeptConnections

beforeAll(async () => {
  database = await createTestDatabase({ migrated: false })
})
beforeEach(() => {
  pool = openPool({ url: database.url, name: 'kept', max: 2 })
  kept = keepConnections(pool)
})
afterEach(async () => {
  kept.close()
  if (!pool.ending) await pool.end()
})
afterAll(() => database.drop())

async function pidOf(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]!.pid
}

/** Uses it as its users do, and tells which it was. */
async function use(): Promise<number> {
  const client = await kept.take()
  try {
    return await pidOf(client)
  } finally {
    kept.giveBack(client, false)
  }
}

it('is the same one at every use', async () => {
  expect(await use()).toBe(await use())
})

it('is at hand at once after its first use', async () => {
  await use()
  const client = kept.take()
  expect(client).not.toBeInstanceOf(Promise)
  kept.giveBack(await client, false)
})

it('gives another one to whoever comes while it is in use', async () => {
  const pid = await use()
  const [first, second] = [await kept.take(), await kept.take()]
  expect(await pidOf(first)).toBe(pid)
  expect(await pidOf(second)).not.toBe(pid)
  for (const client of [first, second]) kept.giveBack(client, false)
  expect(pool.idleCount).toBe(1)
  expect(await use()).toBe(pid)
})

it('is replaced when it breaks between two uses', async () => {
  const pid = await use()
  await database.query('SELECT pg_terminate_backend($1)', [pid])
  await until(() => pool.totalCount === 0, { what: 'the pool has dropped it' })
  expect(await use()).not.toBe(pid)
})

it('is replaced when it breaks in use', async () => {
  const pid = await use()
  const client = await kept.take()
  await database.query('SELECT pg_terminate_backend($1)', [pid])
  await expect(client.query('SELECT pg_sleep(10)')).rejects.toThrow()
  kept.giveBack(client, true)
  expect(await use()).not.toBe(pid)
})

it('keeps as many as it is told to', async () => {
  const both = keepConnections(pool, 2)
  const clients = await Promise.all([both.take(), both.take()])
  for (const client of clients) both.giveBack(client, false)
  expect(pool.idleCount).toBe(0)
  // The last one given back first.
  expect([both.take(), both.take()]).toEqual(clients.toReversed())
  for (const client of clients) both.giveBack(client, false)
  both.close()
  expect(pool.idleCount).toBe(2)
})

it('is used at once where it is at hand', async () => {
  await use()
  let isBegun = false
  const used = onConnection(kept, async (client) => {
    isBegun = true
    return pidOf(client)
  })
  expect(isBegun).toBe(true)
  await used
})

it('is not used again after work on it failed', async () => {
  const pid = await use()
  await expect(onConnection(kept, (client) => client.query('SELECT 1 / 0'))).rejects.toThrow('division by zero')
  expect(await onConnection(kept, pidOf)).not.toBe(pid)
})

it('lets its pool end', async () => {
  await use()
  kept.close()
  await pool.end()
})

it('lets its pool end once it is given back, when it was in use', async () => {
  await use()
  const client = await kept.take()
  kept.close()
  const ended = pool.end()
  kept.giveBack(client, false)
  await ended
})
