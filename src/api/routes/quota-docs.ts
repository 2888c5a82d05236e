/** What the routes of quotas and reservations say about themselves. */

import { z } from 'zod'
import {
  QuotaBody,
  QuotaListAnswer,
  QuotaListQuery,
  QuotaObject,
  QuotaParams,
  QuotaQuery,
  QuotaRuleObject,
} from '../../contract/quota.ts'
import {
  ReservationBody,
  ReservationListAnswer,
  ReservationListQuery,
  ReservationMadeAnswer,
  ReservationObject,
} from '../../contract/reservation.ts'
import type { RouteDoc } from '../route-doc.ts'

export const LIST_DOC: RouteDoc = {
  summary: 'List the quotas',
  description: 'By owner, model and together. Owners see their own rules, operators all.',
  tag: 'quotas',
  query: QuotaListQuery,
  answers: { 200: { description: 'A page of rules.', schema: QuotaListAnswer } },
  refusals: [],
}

export const READ_DOC: RouteDoc = {
  summary: 'Read a quota and how much of it is used',
  description: [
    'The rule of this owner (and model), and in `usage` every limit that applies to its runs, the rules of everyone included, with what',
    'uses it. An owner without a rule of its own is answered too, with limits that are null. Everyone may read their own, operators those',
    'of all. The owner `*` stands for everyone: with `together=true` its usage is that of all owners; without, each owner has its own.',
  ].join(' '),
  tag: 'quotas',
  params: QuotaParams,
  query: QuotaQuery,
  answers: { 200: { description: 'The quota.', schema: QuotaObject } },
  refusals: ['quota-not-found'],
}

export const PUT_DOC: RouteDoc = {
  summary: 'Set a quota',
  description: [
    'Makes or replaces the rule of this owner (and model); a limit that is not given is none. It holds for every run that is submitted',
    'after the answer, and counts those submitted before as well. Of the rules that count the same the most specific one applies, so a rule',
    'without limits exempts its owner from the rule of everyone. `together` rules are ceilings that hold besides. In the audit.',
  ].join(' '),
  tag: 'quotas',
  params: QuotaParams,
  query: QuotaQuery,
  body: QuotaBody,
  answers: { 200: { description: 'The rule as it is now.', schema: QuotaRuleObject } },
  refusals: ['invalid-query'],
}

export const DELETE_DOC: RouteDoc = {
  summary: 'Delete a quota',
  description: 'From then on the rule of everyone applies, where there is one. In the audit.',
  tag: 'quotas',
  params: QuotaParams,
  query: QuotaQuery,
  answers: { 204: { description: 'The rule is gone.' } },
  refusals: ['quota-not-found'],
}

const params = z.strictObject({ id: z.guid().describe('The id of the reservation.') })

export const RESERVE_DOC: RouteDoc = {
  summary: 'Reserve a place',
  description: [
    'Holds a place within the quotas of the owner before there is a run, such as for the time of an upload. Give `reservation_id` with the',
    'submit: the run takes over the place in the transaction that creates it. A place that nobody uses is free again when it expires.',
  ].join(' '),
  tag: 'quotas',
  body: ReservationBody,
  headers: {
    'idempotency-key': '1 to 255 printable ASCII characters. The same key of the same owner gets the same reservation.',
    'holdfast-owner': 'For whom the place is held, where the caller may act for others.',
  },
  answers: {
    200: {
      description: 'An earlier request with this key made the reservation; its state now.',
      schema: ReservationMadeAnswer,
      headers: { 'Idempotent-Replayed': '`true`.' },
    },
    201: {
      description: 'The reservation.',
      schema: ReservationMadeAnswer,
      headers: { Location: 'The path of the reservation.' },
    },
  },
  refusals: ['idempotency-key-invalid', 'quota-exceeded', 'cost-limit-exceeded', 'unknown-model'],
}

export const RESERVATION_DOC: RouteDoc = {
  summary: 'Read a reservation',
  tag: 'quotas',
  params,
  answers: { 200: { description: 'The reservation.', schema: ReservationObject } },
  refusals: ['reservation-not-found'],
}

export const RESERVATIONS_DOC: RouteDoc = {
  summary: 'List reservations',
  description: 'Newest first. Owners see their own, operators all. Ended ones are forgotten after a while.',
  tag: 'quotas',
  query: ReservationListQuery,
  answers: { 200: { description: 'A page of reservations.', schema: ReservationListAnswer } },
  refusals: [],
}

export const RELEASE_DOC: RouteDoc = {
  summary: 'Release a reservation',
  description: [
    'Gives the place back at once. One that has ended already, whichever way, stays as it is and is answered all the same: it is always',
    'safe to release what one has reserved.',
  ].join(' '),
  tag: 'quotas',
  params,
  answers: { 200: { description: 'The reservation as it is now.', schema: ReservationObject } },
  refusals: ['reservation-not-found'],
}
