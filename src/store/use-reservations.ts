/** Reservations that runs are submitted with: looked at under their locks, consumed in the transaction that creates the runs. */

import type pg from 'pg'
import type { ReservationState } from './ports/reservations.ts'

const FIND = `
SELECT reservation_id AS id, owner, model, cost, state, state = 'ACTIVE' AND expires_at > clock() AS "isActive"
FROM quota_reservations WHERE reservation_id = ANY($1::uuid[])`

// Released or expired since it was looked at, it is not consumed, and the number of rows tells.
const CONSUME = `
UPDATE quota_reservations v SET state = 'CONSUMED', ended_at = clock(), run_id = w.run_id
FROM unnest($1::uuid[], $2::uuid[]) AS w(id, run_id)
WHERE v.reservation_id = w.id AND v.state = 'ACTIVE' AND v.expires_at > clock()`

export type FoundReservation = {
  id: string
  owner: string
  model: string | null
  cost: number | null
  state: ReservationState
  isActive: boolean
}

export async function findReservations(
  client: pg.ClientBase,
  ids: readonly string[],
): Promise<Map<string, FoundReservation>> {
  const { rows } = await client.query<FoundReservation>({ name: 'find_reservations', text: FIND, values: [ids] })
  return new Map(rows.map((row) => [row.id, row]))
}

/** False when one of them is not active any more. */
export async function consumeReservations(
  client: pg.ClientBase,
  used: readonly { id: string; runId: string }[],
): Promise<boolean> {
  // Everybody locks them in the same order.
  const sorted = [...used].sort((a, b) => (a.id < b.id ? -1 : 1))
  const values = [sorted.map(({ id }) => id), sorted.map(({ runId }) => runId)]
  const { rowCount } = await client.query({ name: 'consume_reservations', text: CONSUME, values })
  return rowCount === used.length
}
