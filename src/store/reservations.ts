/** The verbs of reservations, bound to their pools. */

import type pg from 'pg'
import type { Admission } from './admit.ts'
import { cursorOfPair, pairOfCursor } from './pair-cursor.ts'
import type { Reservation, Reservations } from './ports/reservations.ts'
import { RESERVATION_COLUMNS, type ReservationRow, reservationOfRow } from './reservation-row.ts'
import { createReserve } from './reserve.ts'

type Answered = <T>(asked: Promise<T>) => Promise<T>

const FIND = `
SELECT ${RESERVATION_COLUMNS} FROM quota_reservations WHERE reservation_id = $1 AND ($2::text IS NULL OR owner = $2)`

const RELEASE = `
UPDATE quota_reservations SET state = 'RELEASED', ended_at = clock()
WHERE reservation_id = $1 AND ($2::text IS NULL OR owner = $2) AND state = 'ACTIVE' AND expires_at > clock()
RETURNING ${RESERVATION_COLUMNS}`

// The state is that of now, so an ACTIVE one past its time is listed as what it is.
const IN_STATE = `($2::text IS NULL OR CASE $2 WHEN 'ACTIVE' THEN state = 'ACTIVE' AND expires_at > clock()
  WHEN 'EXPIRED' THEN state = 'EXPIRED' OR state = 'ACTIVE' AND expires_at <= clock() ELSE state = $2 END)`

const LIST = `
SELECT ${RESERVATION_COLUMNS} FROM quota_reservations
WHERE ($1::text IS NULL OR owner = $1) AND ${IN_STATE}
  AND ($3::timestamptz IS NULL OR (created_at, reservation_id) < ($3, $4::uuid))
ORDER BY created_at DESC, reservation_id DESC LIMIT $5`

const EXPIRE = `
WITH late AS MATERIALIZED (
  SELECT reservation_id FROM quota_reservations WHERE state = 'ACTIVE' AND expires_at <= clock()
  ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE quota_reservations v SET state = 'EXPIRED', ended_at = clock() FROM late WHERE v.reservation_id = late.reservation_id`

/** Ended ones are kept for people to look at. */
const KEEP = `interval '7 days'`

const FORGET = `
DELETE FROM quota_reservations WHERE reservation_id IN (
  SELECT reservation_id FROM quota_reservations WHERE created_at < clock() - ${KEEP} AND ended_at < clock() - ${KEEP} LIMIT $1)`

const MOMENT = /^\d{4,}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?[+-]\d\d(:\d\d)*$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function createReservations(
  { reads, singles, admission }: { reads: pg.Pool; singles: pg.Pool; admission: Admission },
  answered: Answered,
): Reservations {
  const reserve = createReserve({ pool: singles, admission })

  async function find(id: string, owner: string | null): Promise<Reservation | null> {
    const { rows } = await answered(reads.query<ReservationRow>(FIND, [id, owner]))
    return rows[0] ? reservationOfRow(rows[0]) : null
  }

  return {
    reserve: (wanted) => answered(reserve(wanted)),
    find,
    async list({ owner, state, limit, cursor }) {
      const isOurs = ([at, id]: [string, string]) => MOMENT.test(at) && UUID.test(id)
      const [at, id] = cursor === null ? [null, null] : pairOfCursor(cursor, isOurs)
      const { rows } = await answered(reads.query<ReservationRow>(LIST, [owner, state, at, id, limit + 1]))
      const last = rows.length > limit ? rows[limit - 1]! : null
      const nextCursor = last && cursorOfPair([last.created_text, last.reservation_id])
      return { reservations: rows.slice(0, limit).map(reservationOfRow), nextCursor }
    },
    async release(id, owner) {
      const { rows } = await answered(reads.query<ReservationRow>(RELEASE, [id, owner]))
      if (rows[0]) return { outcome: 'released', reservation: reservationOfRow(rows[0]) }
      const reservation = await find(id, owner)
      if (!reservation) return { outcome: 'not-found' }
      return { outcome: reservation.state === 'RELEASED' ? 'released' : 'not-active', reservation }
    },
    async tidy(limit) {
      const expired = await reads.query(EXPIRE, [limit])
      const forgotten = await reads.query(FORGET, [limit])
      return expired.rowCount === limit || forgotten.rowCount === limit
    },
  }
}
