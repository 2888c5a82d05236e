/** A connection that breaks while somebody has it fails what is sent on it, and nothing else. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

it('a connection that breaks between two statements does not end the process', async () => {
  const client = await database.pool.connect()
  const ended = new Promise((resolve) => client.once('end', resolve))
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  await database.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid])
  await ended
  await expect(client.query('SELECT 1')).rejects.toThrow()
  client.release(true)
  expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
})
