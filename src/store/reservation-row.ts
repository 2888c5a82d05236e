/** How a row of quota_reservations becomes a Reservation. */

import type { Reservation, ReservationState } from './ports/reservations.ts'

/** The state as it is now, whether or not the janitor has been there. */
const STATE_NOW = `CASE WHEN state = 'ACTIVE' AND expires_at <= clock() THEN 'EXPIRED' ELSE state END`

export const RESERVATION_COLUMNS = `reservation_id, owner, model, ${STATE_NOW} AS state, cost, created_at, created_at::text AS created_text,
  expires_at, CASE WHEN ${STATE_NOW} = 'EXPIRED' THEN COALESCE(ended_at, expires_at) ELSE ended_at END AS ended_at, run_id`

export type ReservationRow = {
  reservation_id: string
  owner: string
  model: string | null
  state: ReservationState
  cost: number | null
  created_at: Date
  created_text: string
  expires_at: Date
  ended_at: Date | null
  run_id: string | null
}

export function reservationOfRow(row: ReservationRow): Reservation {
  return {
    id: row.reservation_id,
    owner: row.owner,
    model: row.model,
    state: row.state,
    cost: row.cost,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    endedAt: row.ended_at,
    runId: row.run_id,
  }
}
