/** Several statements as one transaction, on a connection of a pool that is given back clean or not at all. */

import type pg from 'pg'
import { isConnectionLost } from './pg-errors.ts'

/** What `work` answers is committed; null undoes everything. After an error that is a lost connection it is not known which happened. */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T | null>,
): Promise<T | null> {
  const client = await pool.connect()
  let isBroken = false
  try {
    await client.query('BEGIN')
    const answer = await work(client)
    await client.query(answer === null ? 'ROLLBACK' : 'COMMIT')
    return answer
  } catch (error) {
    isBroken = isConnectionLost(error) || !(await rolledBack(client))
    throw error
  } finally {
    client.release(isBroken)
  }
}

async function rolledBack(client: pg.PoolClient): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  )
}
