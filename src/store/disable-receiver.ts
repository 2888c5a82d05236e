/** Stops everything for a receiver: nothing is written down for it, nothing is sent to it; what waits is kept. */

import type pg from 'pg'
import { inTransaction } from './in-transaction.ts'

const DISABLE = `UPDATE receivers SET is_enabled = false, disabled_reason = $2 WHERE id = $1 AND is_enabled`

const FORGET = `DELETE FROM wanted_events WHERE receiver_id = $1`

/** Within a transaction. False for one that is disabled already, or that there is not. */
export async function disableReceiver(client: pg.ClientBase, id: string, reason: string): Promise<boolean> {
  if ((await client.query(DISABLE, [id, reason])).rowCount !== 1) return false
  await client.query(FORGET, [id])
  return true
}

export async function disable(pool: pg.Pool, id: string, reason: string): Promise<boolean> {
  return (await inTransaction(pool, (client) => disableReceiver(client, id, reason))) ?? false
}
