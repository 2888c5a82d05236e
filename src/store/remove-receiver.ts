/**
 * Removes a receiver with its deliveries, which may be many: it is disabled first, then its deliveries go some at a time, at
 * last the receiver itself. Whoever dies in the middle leaves a disabled receiver, and removing it again goes on.
 */

import type pg from 'pg'
import { disableReceiver } from './disable-receiver.ts'
import { inTransaction } from './in-transaction.ts'
import { lockReceiver } from './lock-receivers.ts'
import type { Channel } from './ports/receivers.ts'

const AT_A_TIME = 1_000

// A settlement holds the receiver while it logs its attempts, so that none of them is left without its delivery.
const LOCK = `SELECT FROM receivers WHERE id = $1 FOR UPDATE`

const EMPTY = `
DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE receiver_id = $1 ORDER BY created_at, id LIMIT ${AT_A_TIME})`

const REMOVE = `DELETE FROM receivers WHERE id = $1`

export async function removeReceiver(
  pool: pg.Pool,
  id: string,
  owner: string | null,
  channel: Channel,
): Promise<boolean> {
  const found = await inTransaction(pool, async (client) => {
    if (!(await lockReceiver(client, id, owner, channel))) return null
    await disableReceiver(client, id, 'It is being removed.')
    return true
  })
  if (!found) return false
  while (await removeSome(pool, id, EMPTY, AT_A_TIME));
  await removeSome(pool, id, REMOVE, 1)
  return true
}

/** Whether there may be more of it. */
async function removeSome(pool: pg.Pool, id: string, statement: string, atATime: number): Promise<boolean> {
  const removed = await inTransaction(pool, async (client) => {
    await client.query(LOCK, [id])
    return (await client.query(statement, [id])).rowCount
  })
  return removed === atATime
}
