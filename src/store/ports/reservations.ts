/**
 * Reservations: places within a quota that are held before there is a run.
 *
 * One counts while it is ACTIVE and not past its time, whether or not somebody has noted that it expired. A submit consumes it in the
 * transaction that creates the run, so a place is never counted twice and never free in between.
 */

import type { Refusal } from '../../run/errors.ts'
import type { QuotaWarning } from '../../run/quota.ts'

export type ReservationState = 'ACTIVE' | 'CONSUMED' | 'RELEASED' | 'EXPIRED'

export type Reservation = {
  id: string
  owner: string
  /** Null: for a run of any model; limits of its model are then looked at when it is submitted. */
  model: string | null
  /** As it is now: an ACTIVE one past its time is EXPIRED. */
  state: ReservationState
  cost: number | null
  createdAt: Date
  expiresAt: Date
  /** When it was consumed, released or found expired. */
  endedAt: Date | null
  runId: string | null
}

/** `id` is made by the caller, so that a repeat after a lost reply is recognised. */
export type NewReservation = {
  id: string
  owner: string
  model: string | null
  ttlSeconds: number
  cost: number | null
  /** Who asks may see everyone's runs and reservations, also as holders of a limit that refuses this one. */
  seesAll?: true
}

export type Reserved = { reservation: Reservation; warnings: QuotaWarning[] }

export type ReservationPage = { reservations: Reservation[]; nextCursor: string | null }

export interface Reservations {
  reserve(wanted: NewReservation): Promise<Reserved | Refusal>
  /** `owner` null for anybody's. */
  find(id: string, owner: string | null): Promise<Reservation | null>
  /** Newest first. Null for all owners, all states. */
  list(filter: {
    owner: string | null
    state: ReservationState | null
    limit: number
    cursor: string | null
  }): Promise<ReservationPage>
  /** Gives the place back. `not-active`: it was consumed or had expired. Releasing again changes nothing and answers `released`. */
  release(
    id: string,
    owner: string | null,
  ): Promise<{ outcome: 'released' | 'not-active'; reservation: Reservation } | { outcome: 'not-found' }>
  /** Marks those past their time and forgets ended ones that are old; at most so many of each. Answers whether there may be more. */
  tidy(limit: number): Promise<boolean>
}
