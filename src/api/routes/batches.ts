/** Batches: begin one, list them, read how far one is, follow it. Those of other owners are answered as if there were none. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { BatchList, BatchListQuery, BatchObject, BatchProgress, NewBatchBody } from '../../contract/batch-progress.ts'
import { PAGE_LIMIT_DEFAULT } from '../../contract/page.ts'
import { Refusal } from '../../run/errors.ts'
import type { Batch } from '../../store/ports/batches.ts'
import type { ApiDeps } from '../api.ts'
import { streamBatch } from '../batch-stream.ts'
import { checkedBody } from '../body.ts'
import { namesEtag } from '../etag.ts'
import { EVENT_STREAM_TYPE, wantsEventStream } from '../event-stream.ts'
import type { Events } from '../events.ts'
import { batchEtag, batchObject, batchProgress, listedBatch } from '../present-batch.ts'
import { principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import type { RouteDoc } from '../route-doc.ts'
import { isRunId } from '../run-id.ts'
import { sendJson } from '../send-json.ts'

const params = z.strictObject({ id: z.guid().describe('The id of the batch.') })

const CREATE_DOC: RouteDoc = {
  summary: 'Begin a batch',
  description: [
    'A batch is a name for runs and uploads that belong together: give its id as `batch_id` of a run, or as',
    '`batch` of an upload. Sent again with the same `batch_id` it answers the same batch, with the title it had',
    'first.',
  ].join(' '),
  tag: 'batches',
  body: NewBatchBody,
  answers: {
    201: { description: 'The batch.', schema: BatchObject, headers: { Location: 'The path of the batch.' } },
  },
  refusals: ['batch-taken'],
}

const LIST_DOC: RouteDoc = {
  summary: 'List batches',
  description: 'Newest first, one page at a time. A batch that only runs name, and nobody began, is not listed.',
  tag: 'batches',
  query: BatchListQuery,
  answers: { 200: { description: 'A page of batches.', schema: BatchList } },
  refusals: [],
}

const READ_DOC: RouteDoc = {
  summary: 'Read how far a batch is',
  description: 'The counts are exact: they are counted from the runs and uploads of the batch, all at one moment.',
  tag: 'batches',
  params,
  headers: {
    prefer: '`wait=N` holds the answer back for up to N seconds, 60 at most, until the batch is finished.',
    'if-none-match':
      'The ETag of an earlier answer; 304 when it still holds. With `Prefer: wait` the answer comes as soon as it does not.',
  },
  answers: {
    200: {
      description: 'The batch.',
      schema: BatchObject,
      headers: { ETag: 'Of the counts and the title.', 'Preference-Applied': 'Of a request that waited.' },
    },
    304: { description: 'The batch is as the caller knows it.' },
  },
  refusals: ['batch-not-found'],
}

const EVENTS_DOC: RouteDoc = {
  summary: 'Follow a batch',
  description: [
    `With \`Accept: ${EVENT_STREAM_TYPE}\` a stream: a \`progress\` message with the counts as they are, another`,
    `whenever they have changed, about once a second at most, and a \`completed\` message when nothing is left to`,
    `do, behind which the stream ends. Each message says everything, so nothing is lost when a client comes back.`,
    `One that comes back behind \`completed\` is answered 204.`,
  ].join(' '),
  tag: 'batches',
  params,
  headers: {
    accept: `\`${EVENT_STREAM_TYPE}\` for a stream.`,
    'last-event-id': 'Of a stream: the id of the last message seen.',
  },
  answers: {
    200: { description: 'The counts, or the stream.', schema: BatchProgress, also: [EVENT_STREAM_TYPE] },
    204: { description: 'The batch is finished, as the caller has seen.' },
  },
  refusals: ['batch-not-found'],
}

export type BatchesDeps = ApiDeps & { events: Events; nextId: () => string }

export function batchesRoutes(app: FastifyInstance, { store: { batches }, events, nextId }: BatchesDeps): void {
  async function visibleBatch(request: FastifyRequest): Promise<Batch> {
    const { id } = request.params as { id: string }
    const batch = isRunId(id) ? await batches.find(id.toLowerCase(), principalOf(request).sees) : null
    if (!batch) throw new Refusal('batch-not-found', `There is no batch ${JSON.stringify(id)}.`)
    return batch
  }

  const create = { config: { role: 'submitter', body: 'required', doc: CREATE_DOC } } as const
  app.post('/batches', create, async (request, reply) => {
    const { title = null, batch_id } = checkedBody(request, NewBatchBody)
    const id = batch_id?.toLowerCase() ?? nextId()
    const batch = await batches.ensure({ id, owner: principalOf(request).owner, title })
    if (batch === 'taken') throw new Refusal('batch-taken', `The batch ${id} belongs to another owner.`)
    const shown = batchObject(batch, await batches.count(id, batch.owner))
    return sendJson(reply.code(201).header('Location', shown.links.self), shown)
  })

  app.get('/batches', { config: { role: 'viewer', doc: LIST_DOC } }, async (request, reply) => {
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null, owner = null } = checkedQuery(request, BatchListQuery)
    const { sees } = principalOf(request)
    if (sees !== null && owner !== null && owner !== sees) return sendJson(reply, { data: [], next_cursor: null })
    const page = await batches.list({ owner: sees ?? owner, limit, cursor })
    return sendJson(reply, { data: page.batches.map(listedBatch), next_cursor: page.nextCursor })
  })

  app.get('/batches/:id', { config: { role: 'viewer', doc: READ_DOC } }, async (request, reply) => {
    const batch = await visibleBatch(request)
    const waited = await events.batchWaits.preferred(request, reply, batch)
    const counts = waited ?? (await batches.count(batch.id, batch.owner))
    const etag = batchEtag(batch, counts)
    reply.header('ETag', etag)
    if (namesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
    return sendJson(reply, batchObject(batch, counts))
  })

  app.get('/batches/:id/events', { config: { role: 'viewer', doc: EVENTS_DOC } }, async (request, reply) => {
    const batch = await visibleBatch(request)
    reply.header('Vary', 'Accept')
    if (wantsEventStream(request)) {
      const isStreaming = await streamBatch(events, { request, reply }, batch)
      return isStreaming ? reply : reply.code(204).send()
    }
    return sendJson(reply, batchProgress(batch.id, await batches.count(batch.id, batch.owner)))
  })
}
