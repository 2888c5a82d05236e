/** What the routes of webhooks say about themselves. */

import { z } from 'zod'
import {
  RotateSecretBody,
  WebhookBody,
  WebhookChangeBody,
  WebhookListAnswer,
  WebhookListQuery,
  WebhookMadeAnswer,
  WebhookObject,
  WebhookTestAnswer,
} from '../../contract/webhook.ts'
import type { RouteDoc } from '../route-doc.ts'

const params = z.strictObject({ id: z.guid().describe('The id of the webhook.') })
const tag = 'deliveries'
const ONE = { description: 'The webhook.', schema: WebhookObject }

export const WEBHOOK_MAKE_DOC: RouteDoc = {
  summary: 'Register a webhook',
  description:
    'From now on each event of these names is sent there at least once, signed after [Standard Webhooks](https://www.standardwebhooks.com). The secret is in this answer only. It hears of the caller’s owner; operators may ask for everybody’s.',
  tag,
  body: WebhookBody,
  answers: {
    201: {
      description: 'The webhook with its secret. Keep it: it cannot be shown again.',
      schema: WebhookMadeAnswer,
      headers: { Location: 'The path of the webhook.' },
    },
  },
  refusals: ['webhook-url-refused', 'webhook-limit'],
}

export const WEBHOOK_LIST_DOC: RouteDoc = {
  summary: 'List webhooks',
  description: 'Newest first. Operators see those of every owner.',
  tag,
  query: WebhookListQuery,
  answers: { 200: { description: 'A page of webhooks.', schema: WebhookListAnswer } },
  refusals: [],
}

export const WEBHOOK_READ_DOC: RouteDoc = {
  summary: 'Read a webhook',
  tag,
  params,
  answers: { 200: ONE },
  refusals: ['webhook-not-found'],
}

export const WEBHOOK_CHANGE_DOC: RouteDoc = {
  summary: 'Change a webhook',
  description: 'What is not given stays as it is. What waits to be sent goes to the new address.',
  tag,
  params,
  body: WebhookChangeBody,
  answers: { 200: ONE },
  refusals: ['webhook-not-found', 'webhook-url-refused'],
}

export const WEBHOOK_DELETE_DOC: RouteDoc = {
  summary: 'Delete a webhook',
  description: 'With everything that was or was to be sent to it.',
  tag,
  params,
  answers: { 204: { description: 'The webhook is gone.' } },
  refusals: ['webhook-not-found'],
}

export const WEBHOOK_ROTATE_DOC: RouteDoc = {
  summary: 'Give a webhook a new secret',
  description:
    'Until `old_secret_until` each message is signed with both, so that a receiver that knows either of them verifies it. A second change within that time ends the first secret at once.',
  tag,
  params,
  body: RotateSecretBody,
  answers: {
    200: {
      description: 'The webhook with its new secret. Keep it: it cannot be shown again.',
      schema: WebhookMadeAnswer,
    },
  },
  refusals: ['webhook-not-found'],
}

export const WEBHOOK_TEST_DOC: RouteDoc = {
  summary: 'Send a test to a webhook',
  description: 'A message of the type `test`, sent and repeated like any other. The delivery tells how it went.',
  tag,
  params,
  answers: { 202: { description: 'It will be sent.', schema: WebhookTestAnswer } },
  refusals: ['webhook-not-found', 'webhook-disabled'],
}
