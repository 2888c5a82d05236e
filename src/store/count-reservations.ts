/** How many reservations hold a place now, for the metrics: expired ones do not, whether or not somebody has marked them. */

import type pg from 'pg'

const COUNT = `SELECT count(*)::int AS count FROM quota_reservations WHERE state = 'ACTIVE' AND expires_at > clock()`

export async function countReservations(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(COUNT)
  return rows[0]!.count
}
