/**
 * Deliveries: what receivers were sent, and sending it again. Those of others' receivers are answered like such that do not
 * exist.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DeliveryListQuery } from '../../contract/delivery.ts'
import { PAGE_LIMIT_DEFAULT } from '../../contract/page.ts'
import { Refusal } from '../../run/errors.ts'
import type { ApiDeps } from '../api.ts'
import { presentDelivery, presentDeliveryDetail } from '../present-delivery.ts'
import { actorOf, principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import { redactOptionsOf } from '../redact-options.ts'
import { isRunId } from '../run-id.ts'
import { sendJson } from '../send-json.ts'
import { DELIVERIES_DOC, DELIVERY_DOC, REDELIVER_DOC } from './delivery-docs.ts'

export function deliveryRoutes(app: FastifyInstance, { store, log, config, showMail }: ApiDeps): void {
  const { deliveries } = store
  const options = redactOptionsOf(config)

  app.get('/deliveries', { config: { role: 'viewer', doc: DELIVERIES_DOC } }, async (request, reply) => {
    const query = checkedQuery(request, DeliveryListQuery)
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null, owner = null, receiver_id: receiverId, ...filter } = query
    const { sees } = principalOf(request)
    if (sees !== null && owner !== null && owner !== sees) return sendJson(reply, { data: [], next_cursor: null })
    const page = await deliveries.list({
      ...filter,
      ...(receiverId && { receiverId: receiverId.toLowerCase() }),
      owner: sees ?? owner,
      limit,
      cursor,
    })
    return sendJson(reply, { data: page.data.map(presentDelivery), next_cursor: page.nextCursor })
  })

  app.get('/deliveries/:id', { config: { role: 'viewer', doc: DELIVERY_DOC } }, async (request, reply) => {
    const id = idOf(request)
    const found = await deliveries.find(id, principalOf(request).sees)
    if (!found) throw notFound(id)
    return sendJson(reply, presentDeliveryDetail(found, { options, showMail }))
  })

  app.post(
    '/deliveries/:id/redeliver',
    { config: { role: 'submitter', body: 'optional', doc: REDELIVER_DOC } },
    async (request, reply) => {
      const id = idOf(request)
      const delivery = await deliveries.redeliver(id, principalOf(request).sees, actorOf(request))
      if (!delivery) throw notFound(id)
      if (delivery === 'busy') throw new Refusal('delivery-busy', `The delivery ${JSON.stringify(id)} has not ended.`)
      log.info({ request_id: request.id, delivery_id: id, receiver_id: delivery.receiverId }, 'delivery is sent again')
      return sendJson(reply, presentDelivery(delivery))
    },
  )
}

function idOf(request: FastifyRequest): string {
  const { id } = request.params as { id: string }
  if (isRunId(id)) return id.toLowerCase()
  throw notFound(id)
}

function notFound(id: string): Refusal {
  return new Refusal('delivery-not-found', `There is no delivery ${JSON.stringify(id)}.`)
}
