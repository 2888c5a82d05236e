/**
 * Takes due deliveries of those receivers that have waited longest, within the slots of each. One transaction of three
 * statements: the receivers are locked first, so that the second sees every send that is under way and the cap holds whoever
 * claims at the same time; the third says when each receiver is due again. It waits for nobody: what somebody else holds is
 * left for the next claim.
 *
 * A try is counted here and not when it is settled, so that a delivery that ends the process sending it is not sent for ever.
 */

import type pg from 'pg'
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOfRow } from './delivery-row.ts'
import { inTransaction } from './in-transaction.ts'
import type { ClaimedDelivery } from './ports/deliveries.ts'
import type { Channel } from './ports/receivers.ts'
import { FAILURES_OF_BREAKER, refreshDue } from './refresh-due.ts'

/** So many of what is due first are looked at, and the oldest of them taken: after an outage all are due, in no order. */
const LOOKED_AT = 64

const LOCK_DUE = `
SELECT id, CASE WHEN failures >= ${FAILURES_OF_BREAKER} THEN 1 ELSE slots END AS slots FROM receivers
WHERE is_enabled AND due_at <= clock() AND channel = ANY($1::text[])
ORDER BY due_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`

// A row that a fact is being joined to right now is passed by. Of a lease that has ended, the attempt is logged as one
// that nobody heard of.
const CLAIM = `
WITH room AS MATERIALIZED (
  SELECT r.id, GREATEST(0, LEAST($3::integer, r.slots - (
    SELECT count(*) FROM deliveries s
    WHERE s.receiver_id = r.id AND s.lease_token IS NOT NULL AND s.available_at > clock()))) AS free
  FROM unnest($1::uuid[], $2::integer[]) AS r(id, slots)
), oldest AS MATERIALIZED (
  SELECT o.id FROM room CROSS JOIN LATERAL (
    SELECT due.id FROM (
      SELECT d.id, d.created_at FROM deliveries d
      WHERE d.receiver_id = room.id AND d.state = 'PENDING' AND d.available_at <= clock()
      ORDER BY d.available_at, d.id LIMIT GREATEST(${LOOKED_AT}, room.free)) due
    ORDER BY due.created_at, due.id LIMIT room.free) o
  WHERE room.free > 0
), taken AS MATERIALIZED (
  SELECT d.id, d.attempts, d.available_at, d.lease_token FROM oldest JOIN deliveries d ON d.id = oldest.id
  FOR UPDATE OF d SKIP LOCKED
), unheard AS (
  INSERT INTO delivery_attempts (delivery_id, attempt, started_at, error)
  SELECT id, attempts, available_at - $4 * interval '1 millisecond', 'Nobody said in time how it went; the relay may have ended.'
  FROM taken WHERE lease_token IS NOT NULL
  ON CONFLICT DO NOTHING
), d AS (
  UPDATE deliveries SET attempts = deliveries.attempts + 1, tries = tries + 1, lease_token = gen_random_uuid(),
    available_at = clock() + $4::double precision * interval '1 millisecond'
  FROM taken WHERE deliveries.id = taken.id RETURNING deliveries.*
)
SELECT ${DELIVERY_COLUMNS}, d.lease_token, d.tries - 1 AS tries, w.url, w.secret,
  CASE WHEN w.old_secret_until > clock() THEN w.old_secret END AS old_secret, a.address
FROM d LEFT JOIN webhooks w ON w.id = d.receiver_id LEFT JOIN mail_addresses a ON a.id = d.receiver_id
ORDER BY d.created_at, d.id`

type ReceiverRow = { id: string; slots: number }
type ClaimedRow = DeliveryRow & {
  lease_token: string
  tries: number
  url: string | null
  secret: string | null
  old_secret: string | null
  address: string | null
}

export type ClaimOptions = { limit: number; leaseMs: number; channels: readonly Channel[] }

export async function claimDeliveries(pool: pg.Pool, options: ClaimOptions): Promise<ClaimedDelivery[]> {
  const claimed = await inTransaction(pool, async (client) => {
    const receivers = await lockDue(client, options)
    return receivers.length === 0 ? null : claimOf(client, receivers, options)
  })
  return claimed ?? []
}

export async function lockDue(
  client: pg.ClientBase,
  { limit, channels }: Pick<ClaimOptions, 'limit' | 'channels'>,
): Promise<ReceiverRow[]> {
  const values = [channels, limit]
  return (await client.query<ReceiverRow>({ name: 'lock_due_receivers', text: LOCK_DUE, values })).rows
}

/** With the receivers locked. Each gets the same share of the limit, so that none takes it all. */
export async function claimOf(
  client: pg.ClientBase,
  receivers: readonly ReceiverRow[],
  { limit, leaseMs }: Pick<ClaimOptions, 'limit' | 'leaseMs'>,
): Promise<ClaimedDelivery[]> {
  const ids = receivers.map(({ id }) => id)
  const share = Math.floor(limit / receivers.length)
  const values = [ids, receivers.map(({ slots }) => slots), share, leaseMs]
  const { rows } = await client.query<ClaimedRow>({ name: 'claim_deliveries', text: CLAIM, values })
  await refreshDue(client, ids, true)
  return rows.map(claimedOfRow)
}

function claimedOfRow(row: ClaimedRow): ClaimedDelivery {
  return { ...deliveryOfRow(row), token: row.lease_token, tries: row.tries, to: toOf(row) }
}

function toOf({ channel, url, secret, old_secret: oldSecret, address }: ClaimedRow): ClaimedDelivery['to'] {
  if (channel === 'webhook') return { channel, url: url!, secret: secret!, oldSecret }
  return channel === 'mail' ? { channel, address: address! } : { channel }
}
