/** A delivery that tells nothing but that it works. Asked for again under the same id it is the same one. */

import type pg from 'pg'
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOfRow } from './delivery-row.ts'
import { inTransaction } from './in-transaction.ts'
import { lockReceiver } from './lock-receivers.ts'
import type { Delivery } from './ports/deliveries.ts'
import { refreshDue } from './refresh-due.ts'

const ADD = `
INSERT INTO deliveries (id, receiver_id, channel, owner, kind, message_id, data, created_at, available_at)
SELECT $1::uuid, r.id, r.channel, r.owner, 'test', 'test_' || $1::uuid, jsonb_build_object('type', 'test',
    'timestamp', to_char(clock() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'data', jsonb_build_object('message', 'This is a test. It tells of nothing that has happened.')),
  clock(), clock()
FROM receivers r WHERE r.id = $2
ON CONFLICT (id) DO NOTHING`

const FIND = `SELECT ${DELIVERY_COLUMNS} FROM deliveries d WHERE d.id = $1 AND d.receiver_id = $2`

export async function sendTest(
  pool: pg.Pool,
  receiverId: string,
  owner: string | null,
  deliveryId: string,
): Promise<Delivery | null> {
  return inTransaction(pool, async (client) => {
    if (!(await lockReceiver(client, receiverId, owner, null))) return null
    await client.query(ADD, [deliveryId, receiverId])
    await refreshDue(client, [receiverId])
    const { rows } = await client.query<DeliveryRow>(FIND, [deliveryId, receiverId])
    return rows[0] ? deliveryOfRow(rows[0]) : null
  })
}
