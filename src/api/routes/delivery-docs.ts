/** What the routes of deliveries say about themselves. */

import { z } from 'zod'
import { DeliveryDetailObject, DeliveryListAnswer, DeliveryListQuery, DeliveryObject } from '../../contract/delivery.ts'
import type { RouteDoc } from '../route-doc.ts'

const params = z.strictObject({ id: z.guid().describe('The id of the delivery.') })

export const DELIVERIES_DOC: RouteDoc = {
  summary: 'List deliveries',
  description: [
    'Newest first. Owners see what their own webhooks and mail addresses were sent, operators everything. A page looks at',
    'a bounded number of deliveries: it may be short or even empty, and the list is over when there is no cursor. Ended',
    'ones are forgotten after a while.',
  ].join(' '),
  tag: 'deliveries',
  query: DeliveryListQuery,
  answers: { 200: { description: 'A page of deliveries.', schema: DeliveryListAnswer } },
  refusals: [],
}

export const DELIVERY_DOC: RouteDoc = {
  summary: 'Read a delivery and how it was tried',
  description: 'With what was sent, what was answered and how long it took, each time; sensitive values are redacted.',
  tag: 'deliveries',
  params,
  answers: { 200: { description: 'The delivery.', schema: DeliveryDetailObject } },
  refusals: ['delivery-not-found'],
}

export const REDELIVER_DOC: RouteDoc = {
  summary: 'Send a delivery again',
  description: [
    'Whatever has ended, also what arrived, is due at once under the same message id, with as many tries as a new one. To',
    'a webhook that is disabled it is sent when that is enabled again.',
  ].join(' '),
  tag: 'deliveries',
  params,
  answers: { 200: { description: 'The delivery, which waits to be sent.', schema: DeliveryObject } },
  refusals: ['delivery-not-found', 'delivery-busy'],
}
