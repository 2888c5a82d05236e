/** The audit: who did what to the service itself, newest first. */

import type { FastifyInstance } from 'fastify'
import { AuditAnswer, type AuditEventObject } from '../../contract/access.ts'
import { PAGE_LIMIT_DEFAULT, PageQuery } from '../../contract/page.ts'
import type { AuditEvent } from '../../store/ports/audit.ts'
import type { ApiDeps } from '../api.ts'
import { checkedQuery } from '../query.ts'
import type { RouteDoc } from '../route-doc.ts'
import { sendPrivate } from '../send-json.ts'

const DOC: RouteDoc = {
  summary: 'Read the audit',
  description:
    'Acts on the service itself, such as making and revoking tokens. Newest first; nothing in it ever changes.',
  tag: 'access',
  query: PageQuery,
  answers: { 200: { description: 'A page of audit events.', schema: AuditAnswer } },
  refusals: [],
}

export function auditRoutes(app: FastifyInstance, { store }: ApiDeps): void {
  app.get('/audit', { config: { role: 'admin', doc: DOC } }, async (request, reply) => {
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null } = checkedQuery(request, PageQuery)
    const page = await store.audit.list({ limit, cursor })
    const answer: AuditAnswer = { data: page.events.map(auditEventObject), next_cursor: page.nextCursor }
    return sendPrivate(reply, answer)
  })
}

function auditEventObject(event: AuditEvent): AuditEventObject {
  return {
    audit_id: event.id,
    at: event.at.toISOString(),
    actor_token_id: event.actorToken,
    actor_owner: event.actorOwner,
    action: event.action,
    target: event.target,
    data: event.data as Record<string, unknown>,
    request_id: event.requestId,
  }
}
