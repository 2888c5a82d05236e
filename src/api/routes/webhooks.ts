/**
 * Webhooks: register, list, read, change, delete, give a new secret and send a test. Others' webhooks are answered like such
 * that do not exist. Each change is in the audit: a webhook carries what happens here to somewhere else.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { PAGE_LIMIT_DEFAULT } from '../../contract/page.ts'
import {
  OLD_SECRET_SECONDS_DEFAULT,
  RotateSecretBody,
  WebhookBody,
  WebhookChangeBody,
  WebhookListQuery,
  type WebhookMadeAnswer,
  type WebhookTestAnswer,
} from '../../contract/webhook.ts'
import { Refusal } from '../../run/errors.ts'
import { EVERYONE } from '../../run/quota.ts'
import type { Webhook } from '../../store/ports/receivers.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody, checkedValue } from '../body.ts'
import { checkWebhookUrl, newSecret, storeNewWebhook, type WebhookRules } from '../make-webhook.ts'
import { presentWebhook } from '../present-webhook.ts'
import { actorOf, forbidden, mayUse, principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import { isRunId } from '../run-id.ts'
import { sendJson, sendPrivate } from '../send-json.ts'
import * as docs from './webhook-docs.ts'

export function webhookRoutes(app: FastifyInstance, deps: ApiDeps & { nextId: () => string }): void {
  const { store, log, config, nextId } = deps
  const { receivers, deliveries, audit } = store
  const rules: WebhookRules = { allow: config.webhooks?.allow ?? [], ...(deps.lookUp && { lookUp: deps.lookUp }) }
  const submitter = { role: 'submitter', body: 'required' } as const

  /** The one that the path names, if the caller may see it. */
  async function named(request: FastifyRequest): Promise<Webhook> {
    const id = idOf(request)
    const webhook = await receivers.findWebhook(id, seenBy(request))
    if (!webhook) throw notFound(id)
    return webhook
  }

  /** Recorded before it is done, like every act that the audit tells of. */
  async function record(request: FastifyRequest, verb: string, id: string, data: Record<string, unknown> = {}) {
    await audit.record({ actor: actorOf(request), action: `webhook.${verb}`, target: id, data })
    log.info({ request_id: request.id, webhook_id: id, owner: principalOf(request).owner }, `webhook ${verb}`)
  }

  app.post('/webhooks', { config: { ...submitter, doc: docs.WEBHOOK_MAKE_DOC } }, async (request, reply) => {
    const { url: asked, events, description = null, owner: whose } = checkedBody(request, WebhookBody)
    const caller = principalOf(request)
    const owner = whose ?? caller.owner
    if (owner === EVERYONE && !mayUse(caller.role, 'operator'))
      throw forbidden(caller.role, 'operator', 'hear of everybody’s runs')
    const url = await checkWebhookUrl(asked, rules)
    const id = nextId()
    await record(request, 'create', id, { owner, url: shownUrl(url), events })
    const wanted = { id, owner, url, events, description, createdBy: caller.owner }
    const { webhook, secret } = await storeNewWebhook(receivers, wanted)
    const shown: WebhookMadeAnswer = { ...presentWebhook(webhook), secret }
    return sendPrivate(reply.code(201).header('Location', shown.links.self), shown)
  })

  app.get('/webhooks', { config: { role: 'viewer', doc: docs.WEBHOOK_LIST_DOC } }, async (request, reply) => {
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null, owner = null } = checkedQuery(request, WebhookListQuery)
    const sees = seenBy(request)
    if (sees !== null && owner !== null && owner !== sees) return sendJson(reply, { data: [], next_cursor: null })
    const page = await receivers.listWebhooks({ owner: sees ?? owner, limit, cursor })
    return sendJson(reply, { data: page.data.map(presentWebhook), next_cursor: page.nextCursor })
  })

  app.get('/webhooks/:id', { config: { role: 'viewer', doc: docs.WEBHOOK_READ_DOC } }, async (request, reply) =>
    sendJson(reply, presentWebhook(await named(request))),
  )

  app.patch('/webhooks/:id', { config: { ...submitter, doc: docs.WEBHOOK_CHANGE_DOC } }, async (request, reply) => {
    const { id } = await named(request)
    const { url: asked, events, description, enabled } = checkedBody(request, WebhookChangeBody)
    const url = asked === undefined ? undefined : await checkWebhookUrl(asked, rules)
    await record(request, 'change', id, { ...(url && { url: shownUrl(url) }), events, enabled })
    const change = {
      ...(url !== undefined && { url }),
      ...(events && { kinds: [...new Set(events)] }),
      ...(description !== undefined && { description }),
      ...(enabled !== undefined && { isEnabled: enabled }),
    }
    const changed = await receivers.changeWebhook(id, seenBy(request), change)
    if (!changed) throw notFound(id)
    return sendJson(reply, presentWebhook(changed))
  })

  app.delete(
    '/webhooks/:id',
    { config: { role: 'submitter', doc: docs.WEBHOOK_DELETE_DOC } },
    async (request, reply) => {
      const { id, owner } = await named(request)
      await record(request, 'delete', id, { owner })
      if (!(await receivers.removeWebhook(id, seenBy(request)))) throw notFound(id)
      return reply.code(204).send()
    },
  )

  const rotate = { role: 'submitter', body: 'optional', doc: docs.WEBHOOK_ROTATE_DOC } as const
  app.post('/webhooks/:id/rotate-secret', { config: rotate }, async (request, reply) => {
    const { id } = await named(request)
    const { old_secret_seconds } = checkedValue(request.body ?? {}, RotateSecretBody)
    const oldForSeconds = old_secret_seconds ?? OLD_SECRET_SECONDS_DEFAULT
    await record(request, 'rotate', id, { old_seconds: oldForSeconds })
    const secret = newSecret()
    const webhook = await receivers.rotateSecret(id, seenBy(request), secret, oldForSeconds)
    if (!webhook) throw notFound(id)
    return sendPrivate(reply, { ...presentWebhook(webhook), secret } satisfies WebhookMadeAnswer)
  })

  const test = { role: 'submitter', body: 'optional', doc: docs.WEBHOOK_TEST_DOC } as const
  app.post('/webhooks/:id/test', { config: test }, async (request, reply) => {
    const { id, isEnabled, disabledReason } = await named(request)
    if (!isEnabled) throw new Refusal('webhook-disabled', `The webhook is disabled: ${disabledReason}`)
    const delivery = await deliveries.sendTest(id, seenBy(request), nextId())
    if (!delivery) throw notFound(id)
    const links = { self: `/deliveries/${delivery.id}` }
    const answer: WebhookTestAnswer = {
      delivery_id: delivery.id,
      webhook_id: id,
      message_id: delivery.messageId,
      links,
    }
    return sendJson(reply.code(202).header('Location', links.self), answer)
  })
}

/** Whose webhooks. Those for everybody's runs are the operators', even if somebody is called `*`; no owner has an empty name. */
function seenBy(request: FastifyRequest): string | null {
  const { sees } = principalOf(request)
  return sees === EVERYONE ? '' : sees
}

/** Without the query, which may hold a secret of the receiver. */
function shownUrl(text: string): string {
  const { origin, pathname } = new URL(text)
  return `${origin}${pathname}`
}

function idOf(request: FastifyRequest): string {
  const { id } = request.params as { id: string }
  if (isRunId(id)) return id.toLowerCase()
  throw notFound(id)
}

function notFound(id: string): Refusal {
  return new Refusal('webhook-not-found', `There is no webhook ${JSON.stringify(id)}.`)
}
