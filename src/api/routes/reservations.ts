/** Reservations: make one, read, list and release. Others' reservations are answered like such that do not exist. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { PAGE_LIMIT_DEFAULT } from '../../contract/page.ts'
import {
  RESERVATION_TTL_SECONDS_DEFAULT,
  ReservationBody,
  ReservationListQuery,
  type ReservationMadeAnswer,
} from '../../contract/reservation.ts'
import { Refusal } from '../../run/errors.ts'
import type { NewReservation, Reserved } from '../../store/ports/reservations.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { countQuotaRefusal } from '../count-quota-refusal.ts'
import { idempotencyKey } from '../header.ts'
import { keyedId } from '../keyed-id.ts'
import type { Known } from '../known.ts'
import { presentReservation, presentWarnings } from '../present-quota.ts'
import { principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import { isRunId } from '../run-id.ts'
import { sendJson } from '../send-json.ts'
import { unknownModel } from '../unknown-model.ts'
import { RELEASE_DOC, RESERVATION_DOC, RESERVATIONS_DOC, RESERVE_DOC } from './quota-docs.ts'

export type ReservationDeps = ApiDeps & { known: Known; nextId: () => string }

export function reservationRoutes(app: FastifyInstance, { store, log, metrics, known, nextId }: ReservationDeps): void {
  const { reservations } = store
  const submitter = { role: 'submitter', body: 'required' } as const

  /** One that was made with the same key is the same one. A sending of before may commit while a later one is being judged. */
  async function reserveOnce(wanted: NewReservation, isKeyed: boolean): Promise<Reserved & { isRepeat: boolean }> {
    const known = isKeyed ? await reservations.find(wanted.id, wanted.owner) : null
    if (known) return { reservation: known, warnings: [], isRepeat: true }
    const reserved = await reservations.reserve(wanted)
    if (!(reserved instanceof Refusal)) return { ...reserved, isRepeat: false }
    const meanwhile = isKeyed ? await reservations.find(wanted.id, wanted.owner) : null
    if (meanwhile) return { reservation: meanwhile, warnings: [], isRepeat: true }
    throw countQuotaRefusal(metrics, reserved)
  }

  app.post('/reservations', { config: { ...submitter, doc: RESERVE_DOC } }, async (request, reply) => {
    const { model, cost, ttl_seconds: asked } = checkedBody(request, ReservationBody)
    const { owner, sees } = principalOf(request)
    if (model && !(await known.model(model, null))) throw unknownModel(model, await store.listModelNames())
    const key = idempotencyKey(request.raw, null)
    const id = key === null ? nextId() : keyedId('reservation', owner, key)
    const ttlSeconds = asked ?? RESERVATION_TTL_SECONDS_DEFAULT
    const base = { id, owner, model: model ?? null, cost: cost ?? null, ttlSeconds }
    const wanted: NewReservation = sees === null ? { ...base, seesAll: true } : base
    const { reservation, warnings, isRepeat } = await reserveOnce(wanted, key !== null)
    const fields = { request_id: request.id, reservation_id: id, owner, ttl_seconds: ttlSeconds }
    log.info(fields, isRepeat ? 'reservation matched' : 'reservation made')
    const shown: ReservationMadeAnswer = { ...presentReservation(reservation), ...presentWarnings(warnings) }
    if (isRepeat) reply.header('Idempotent-Replayed', 'true')
    else reply.code(201).header('Location', shown.links.self)
    return sendJson(reply, shown)
  })

  app.get('/reservations', { config: { role: 'viewer', doc: RESERVATIONS_DOC } }, async (request, reply) => {
    const query = checkedQuery(request, ReservationListQuery)
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null, owner = null, state = null } = query
    const { sees } = principalOf(request)
    if (sees !== null && owner !== null && owner !== sees) return sendJson(reply, { data: [], next_cursor: null })
    const page = await reservations.list({ owner: sees ?? owner, state, limit, cursor })
    return sendJson(reply, { data: page.reservations.map(presentReservation), next_cursor: page.nextCursor })
  })

  app.get('/reservations/:id', { config: { role: 'viewer', doc: RESERVATION_DOC } }, async (request, reply) => {
    const id = idOf(request)
    const reservation = await reservations.find(id, principalOf(request).sees)
    if (!reservation) throw notFound(id)
    return sendJson(reply, presentReservation(reservation))
  })

  app.delete('/reservations/:id', { config: { role: 'submitter', doc: RELEASE_DOC } }, async (request, reply) => {
    const id = idOf(request)
    const released = await reservations.release(id, principalOf(request).sees)
    if (released.outcome === 'not-found') throw notFound(id)
    log.info({ request_id: request.id, reservation_id: id, outcome: released.outcome }, 'reservation released')
    return sendJson(reply, presentReservation(released.reservation))
  })
}

function idOf(request: FastifyRequest): string {
  const { id } = request.params as { id: string }
  if (isRunId(id)) return id.toLowerCase()
  throw notFound(id)
}

function notFound(id: string): Refusal {
  return new Refusal('reservation-not-found', `There is no reservation ${JSON.stringify(id)}.`)
}
