/**
 * Mail addresses: tell one about documents, list, read and delete them, and send a test. Others' addresses are answered like such that do
 * not exist. Each change is in the audit: mail carries what happens here to somewhere else.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { PAGE_LIMIT_DEFAULT } from '../../contract/page.ts'
import { RecipientBody, RecipientListQuery, type RecipientTestAnswer } from '../../contract/recipient.ts'
import { Refusal } from '../../run/errors.ts'
import { EVERYONE } from '../../run/quota.ts'
import type { MailAddress } from '../../store/ports/receivers.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { assertRecipientRoom, mailKindsOf, normalAddress } from '../make-recipient.ts'
import { presentRecipient } from '../present-recipient.ts'
import { actorOf, forbidden, mayUse, principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import { isRunId } from '../run-id.ts'
import { sendJson } from '../send-json.ts'
import * as docs from './recipient-docs.ts'

export function recipientRoutes(app: FastifyInstance, deps: ApiDeps & { nextId: () => string }): void {
  const { store, log, nextId } = deps
  const { receivers, deliveries, audit } = store

  /** The one that the path names, if the caller may see it. */
  async function named(request: FastifyRequest): Promise<MailAddress> {
    const id = idOf(request)
    const found = await receivers.findAddress(id, principalOf(request).sees)
    if (!found) throw notFound(id)
    return found
  }

  /** Recorded before it is done, like every act that the audit tells of. */
  async function record(request: FastifyRequest, verb: string, target: string, data: Record<string, unknown>) {
    await audit.record({ actor: actorOf(request), action: `recipient.${verb}`, target, data })
    log.info({ request_id: request.id, owner: data.owner }, `recipient ${verb}`)
  }

  const put = { role: 'submitter', body: 'required', doc: docs.RECIPIENT_PUT_DOC } as const
  app.post('/recipients', { config: put }, async (request, reply) => {
    const { address: asked, kinds: wanted, owner: everyone } = checkedBody(request, RecipientBody)
    const caller = principalOf(request)
    const owner = everyone ?? caller.owner
    if (owner === EVERYONE && !mayUse(caller.role, 'operator'))
      throw forbidden(caller.role, 'operator', 'be told about everybody’s documents')
    const address = normalAddress(asked)
    await assertRecipientRoom(receivers, owner, address)
    const kinds = mailKindsOf(wanted)
    await record(request, 'put', address, { owner, kinds })
    const id = nextId()
    const recipient = presentRecipient(
      await receivers.putAddress({ id, owner, address, kinds, createdBy: caller.owner }),
    )
    if (recipient.recipient_id !== id) return sendJson(reply, recipient)
    return sendJson(reply.code(201).header('Location', recipient.links.self), recipient)
  })

  app.get('/recipients', { config: { role: 'viewer', doc: docs.RECIPIENT_LIST_DOC } }, async (request, reply) => {
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null, owner = null } = checkedQuery(request, RecipientListQuery)
    const { sees } = principalOf(request)
    if (sees !== null && owner !== null && owner !== sees) return sendJson(reply, { data: [], next_cursor: null })
    const page = await receivers.listAddresses({ owner: sees ?? owner, limit, cursor })
    return sendJson(reply, { data: page.data.map(presentRecipient), next_cursor: page.nextCursor })
  })

  app.get('/recipients/:id', { config: { role: 'viewer', doc: docs.RECIPIENT_READ_DOC } }, async (request, reply) =>
    sendJson(reply, presentRecipient(await named(request))),
  )

  const remove = { role: 'submitter', doc: docs.RECIPIENT_DELETE_DOC } as const
  app.delete('/recipients/:id', { config: remove }, async (request, reply) => {
    const { id, owner, address } = await named(request)
    await record(request, 'delete', address, { owner })
    if (!(await receivers.removeAddress(id, principalOf(request).sees))) throw notFound(id)
    return reply.code(204).send()
  })

  const test = { role: 'submitter', body: 'optional', doc: docs.RECIPIENT_TEST_DOC } as const
  app.post('/recipients/:id/test', { config: test }, async (request, reply) => {
    const { id, isEnabled, disabledReason } = await named(request)
    if (!isEnabled) throw new Refusal('recipient-disabled', `No mail goes to this address: ${disabledReason}`)
    const delivery = await deliveries.sendTest(id, principalOf(request).sees, nextId())
    if (!delivery) throw notFound(id)
    const links = { self: `/deliveries/${delivery.id}` }
    const { messageId: message_id } = delivery
    const answer: RecipientTestAnswer = { delivery_id: delivery.id, recipient_id: id, message_id, links }
    return sendJson(reply.code(202).header('Location', links.self), answer)
  })
}

function idOf(request: FastifyRequest): string {
  const { id } = request.params as { id: string }
  if (isRunId(id)) return id.toLowerCase()
  throw notFound(id)
}

function notFound(id: string): Refusal {
  return new Refusal('recipient-not-found', `There is no mail address ${JSON.stringify(id)}.`)
}
