/** A transaction that stays open until a test ends it, so that others can be seen to wait for it. */

import type pg from 'pg'
import { onTestFinished } from 'vitest'

export type OpenTransaction<T> = { client: pg.PoolClient; answer: T; end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> }

/** Undone when the test is over, if nobody has ended it. */
export async function openTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<OpenTransaction<T>> {
  const client = await pool.connect()
  await client.query('BEGIN')
  const answer = await work(client)
  let isOpen = true
  async function end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    if (!isOpen) return
    isOpen = false
    await client.query(how)
    client.release()
  }
  onTestFinished(() => end('ROLLBACK'))
  return { client, answer, end }
}
