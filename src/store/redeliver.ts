/** Sends again what has ended, under the same message id and with a full set of tries. Who asked for it is in the audit. */

import type pg from 'pg'
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOfRow } from './delivery-row.ts'
import { OF_OWNER } from './find-delivery.ts'
import { inTransaction } from './in-transaction.ts'
import { lockReceivers } from './lock-receivers.ts'
import type { Actor } from './ports/audit.ts'
import type { Delivery } from './ports/deliveries.ts'
import { refreshDue } from './refresh-due.ts'

const FIND = `SELECT d.receiver_id FROM deliveries d WHERE d.id = $1 AND ${OF_OWNER}`

const AGAIN = `
WITH again AS (
  UPDATE deliveries d SET state = 'PENDING', available_at = clock(), finished_at = NULL, tries = 0
  WHERE d.id = $1 AND d.state <> 'PENDING' RETURNING ${DELIVERY_COLUMNS}
), audited AS (
  INSERT INTO audit_events (actor_token, actor_owner, action, target, request_id)
  SELECT $2, $3, 'delivery.redeliver', id, $4 FROM again
)
SELECT * FROM again`

export async function redeliver(
  pool: pg.Pool,
  id: string,
  owner: string | null,
  { tokenId, owner: actor, requestId }: Actor,
): Promise<Delivery | 'busy' | null> {
  return inTransaction<Delivery | 'busy'>(pool, async (client) => {
    const found = (await client.query<{ receiver_id: string }>(FIND, [id, owner])).rows[0]
    if (!found) return null
    await lockReceivers(client, [found.receiver_id])
    const { rows } = await client.query<DeliveryRow>(AGAIN, [id, tokenId, actor, requestId])
    if (!rows[0]) return 'busy'
    await refreshDue(client, [found.receiver_id])
    return deliveryOfRow(rows[0])
  })
}
