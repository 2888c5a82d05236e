/** Reservations on the wire: a place within a quota that is held before there is a run. */

import { z } from 'zod'
import { pageAnswer, pageQuery } from './page.ts'
import { QUOTA_COST_MAX } from './quota.ts'

export const RESERVATION_TTL_SECONDS_DEFAULT = 300
/** A day: what nobody uses for longer is not meant. */
export const RESERVATION_TTL_SECONDS_MAX = 24 * 3600

const time = z.iso.datetime()

/**
 * ACTIVE: holds a place. CONSUMED: a run was submitted with it, and counts in its stead. RELEASED: given back. EXPIRED: not used in time.
 * Only ACTIVE ones count, and never longer than until `expires_at`.
 */
export const ReservationState = z.enum(['ACTIVE', 'CONSUMED', 'RELEASED', 'EXPIRED'])

export const ReservationBody = z.strictObject({
  /** How long the place is held; 300 when not given. */
  ttl_seconds: z.int().min(1).max(RESERVATION_TTL_SECONDS_MAX).nullish(),
  /** What the run is going to cost, for limits of cost. */
  cost: z.number().min(0).max(QUOTA_COST_MAX).nullish(),
  /** The model of the run, for limits of that model. A run of another model cannot use the reservation. */
  model: z.string().min(1).max(128).nullish(),
})

export const ReservationObject = z.strictObject({
  reservation_id: z.guid(),
  owner: z.string(),
  model: z.string().nullable(),
  state: ReservationState,
  cost: z.number().min(0).nullable(),
  created_at: time,
  expires_at: time,
  /** When it was consumed, released or found expired; null before. */
  ended_at: time.nullable(),
  /** The run that consumed it. */
  run_id: z.guid().nullable(),
  links: z.strictObject({ self: z.string(), run: z.string().nullable() }),
})

/** What `POST /reservations` answers: the reservation, and limits that are nearly used up, in words. */
export const ReservationMadeAnswer = ReservationObject.extend({
  quota_warnings: z.array(z.string()),
  cost_limit_warning: z.string().nullable(),
})

export const ReservationListQuery = z.strictObject({
  ...pageQuery,
  /** Only those of this owner. */
  owner: z.string().min(1).max(255).optional(),
  state: ReservationState.optional(),
})

export const ReservationListAnswer = pageAnswer(ReservationObject)

export type ReservationState = z.infer<typeof ReservationState>
export type ReservationBody = z.infer<typeof ReservationBody>
export type ReservationObject = z.infer<typeof ReservationObject>
export type ReservationMadeAnswer = z.infer<typeof ReservationMadeAnswer>
export type ReservationListAnswer = z.infer<typeof ReservationListAnswer>
