/**
 * Bulk operations: begin one (or only count), follow it, read what became of each run, stop it. The work itself is done in the
 * background of every API process and survives all of them.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { BulkBody, BulkCancelBody, BulkItemsQuery } from '../../contract/bulk.ts'
import { PAGE_LIMIT_DEFAULT, PageQuery } from '../../contract/page.ts'
import { Refusal } from '../../run/errors.ts'
import type { BulkOperation } from '../../store/ports/bulk.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { countRuns } from '../bulk-count.ts'
import { bulkFilterOf, checkBulkFilter } from '../bulk-filter.ts'
import { idempotencyKey } from '../header.ts'
import { presentBulk, presentBulkItem } from '../present-bulk.ts'
import { actorOf, principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import { isRunId } from '../run-id.ts'
import { sendJson } from '../send-json.ts'
import { CANCEL_DOC, CREATE_DOC, ITEMS_DOC, LIST_DOC, READ_DOC } from './bulk-docs.ts'

export type BulkRouteDeps = Pick<ApiDeps, 'store' | 'log'> & {
  nextId: () => string
  /** Told of work to do. */
  wake: () => void
}

export function bulkRoutes(app: FastifyInstance, { store, log, nextId, wake }: BulkRouteDeps): void {
  app.post('/bulk', { config: { role: 'submitter', body: 'required', doc: CREATE_DOC } }, async (request, reply) => {
    const body = checkedBody(request, BulkBody)
    checkBulkFilter(body)
    const { action, filter } = body
    const { owner, sees } = principalOf(request)
    if (body.dry_run) return sendJson(reply, await countRuns(store.search, bulkFilterOf(action, filter, sees)))
    const key = idempotencyKey(request.raw, null)
    const asked = { id: nextId(), action, filter, sees, createdBy: owner, key }
    const { operation, idempotentHit } = await store.bulk.create(asked, actorOf(request))
    if (idempotentHit) reply.header('Idempotent-Replayed', 'true')
    else log.info({ request_id: request.id, operation_id: operation.id, action }, 'bulk operation created')
    wake()
    const answer = presentBulk(operation)
    return sendJson(reply.code(202).header('Location', answer.links.self), answer)
  })

  app.get('/bulk', { config: { role: 'viewer', doc: LIST_DOC } }, async (request, reply) => {
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null } = checkedQuery(request, PageQuery)
    const page = await store.bulk.list(principalOf(request).sees, { limit, cursor })
    return sendJson(reply, { data: page.operations.map(presentBulk), next_cursor: page.nextCursor })
  })

  app.get('/bulk/:id', { config: { role: 'viewer', doc: READ_DOC } }, async (request, reply) =>
    sendJson(reply, presentBulk(await operationOf(request))),
  )

  app.get('/bulk/:id/items', { config: { role: 'viewer', doc: ITEMS_DOC } }, async (request, reply) => {
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null, outcome = null } = checkedQuery(request, BulkItemsQuery)
    const { id } = await operationOf(request)
    const page = await store.bulk.items(id, { outcome, limit, cursor })
    return sendJson(reply, { data: page.items.map(presentBulkItem), next_cursor: page.nextCursor })
  })

  app.post(
    '/bulk/:id/cancel',
    { config: { role: 'submitter', body: 'optional', doc: CANCEL_DOC } },
    async (request, reply) => {
      const id = idOf(request)
      if (request.body !== undefined) checkedBody(request, BulkCancelBody)
      const operation = await store.bulk.requestCancel(id, principalOf(request).sees)
      if (!operation) throw notFound(id)
      log.info({ request_id: request.id, operation_id: id, state: operation.state }, 'bulk operation asked to stop')
      return sendJson(reply.code(operation.state === 'RUNNING' ? 202 : 200), presentBulk(operation))
    },
  )

  async function operationOf(request: FastifyRequest): Promise<BulkOperation> {
    const id = idOf(request)
    const operation = await store.bulk.read(id, principalOf(request).sees)
    if (!operation) throw notFound(id)
    return operation
  }
}

function idOf(request: FastifyRequest): string {
  const { id } = request.params as { id: string }
  if (isRunId(id)) return id.toLowerCase()
  throw notFound(id)
}

function notFound(id: string): Refusal {
  return new Refusal('bulk-not-found', `There is no bulk operation ${JSON.stringify(id)}.`)
}
