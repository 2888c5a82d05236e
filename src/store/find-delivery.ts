/** One delivery with what was sent and answered, the latest attempts of many. */

import type pg from 'pg'
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOfRow } from './delivery-row.ts'
import type { Delivery, DeliveryAttempt } from './ports/deliveries.ts'

const ATTEMPTS_MAX = 100

/** Whose it is: an owner sees what its own receivers were sent. */
export const OF_OWNER = `($2::text IS NULL
  OR d.owner = $2 AND EXISTS (SELECT FROM receivers r WHERE r.id = d.receiver_id AND r.owner = $2))`

const FIND = `SELECT ${DELIVERY_COLUMNS} FROM deliveries d WHERE d.id = $1 AND ${OF_OWNER}`

const ATTEMPTS = `
SELECT attempt, started_at, duration_ms, request, response, error FROM delivery_attempts
WHERE delivery_id = $1 ORDER BY attempt DESC LIMIT ${ATTEMPTS_MAX}`

type AttemptRow = {
  attempt: number
  started_at: Date
  duration_ms: number | null
  request: unknown
  response: unknown
  error: string | null
}

export async function findDelivery(
  pool: pg.Pool,
  id: string,
  owner: string | null,
): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] } | null> {
  const { rows } = await pool.query<DeliveryRow>(FIND, [id, owner])
  if (!rows[0]) return null
  const attempts = await pool.query<AttemptRow>(ATTEMPTS, [id])
  return { delivery: deliveryOfRow(rows[0]), attempts: attempts.rows.toReversed().map(attemptOfRow) }
}

function attemptOfRow({ started_at: startedAt, duration_ms: durationMs, ...row }: AttemptRow): DeliveryAttempt {
  return { attempt: row.attempt, startedAt, durationMs, request: row.request, response: row.response, error: row.error }
}
