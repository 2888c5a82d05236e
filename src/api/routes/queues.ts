/** Queues: how full they are, how they are shared among owners, and pausing and resuming them. What runs goes on in a paused queue; nothing new starts. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  QueueBody,
  type QueueObject,
  QueueParams,
  QueueObject as QueueSchema,
  QueuesAnswer,
} from '../../contract/directory.ts'
import { PAGE_LIMIT_DEFAULT, PageQuery } from '../../contract/page.ts'
import { Refusal } from '../../run/errors.ts'
import type { QueueEntry } from '../../store/ports/directory.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { actorOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import type { RouteDoc } from '../route-doc.ts'
import { sendJson } from '../send-json.ts'

const NoBody = z.strictObject({})

const LIST_DOC: RouteDoc = {
  summary: 'List the queues',
  description: 'In the order of their names. Depths are counted up to a limit; a number that hit it says so.',
  tag: 'queues',
  query: PageQuery,
  answers: { 200: { description: 'A page of queues.', schema: QueuesAnswer } },
  refusals: ['invalid-query'],
}

const one = (summary: string, description: string): RouteDoc => ({
  summary,
  description,
  tag: 'queues',
  params: QueueParams,
  answers: { 200: { description: 'The queue as it is now.', schema: QueueSchema } },
  refusals: ['queue-not-found'],
})

const READ_DOC = one('Read a queue', 'How full it is and who serves it.')
const PAUSE_DOC: RouteDoc = {
  ...one('Pause a queue', 'Nothing of it is started any more; what runs goes on. Doing it again changes nothing.'),
  body: NoBody,
}
const RESUME_DOC: RouteDoc = {
  ...one('Resume a queue', 'Its waiting runs start again. Doing it again changes nothing.'),
  body: NoBody,
}
const PUT_DOC: RouteDoc = {
  ...one(
    'Set a queue',
    'Fair share among owners and their weights. What is not given stays as it is; weights replace all there were.',
  ),
  body: QueueBody,
}

export function queueRoutes(app: FastifyInstance, { store, wakeup, log }: ApiDeps): void {
  app.get('/queues', { config: { role: 'viewer', doc: LIST_DOC } }, async (request, reply) => {
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null } = checkedQuery(request, PageQuery)
    const page = await store.directory.queues({ limit, cursor })
    return sendJson(reply, { data: page.items.map(queueObject), next_cursor: page.nextCursor })
  })

  app.get('/queues/:queue', { config: { role: 'viewer', doc: READ_DOC } }, async (request, reply) =>
    sendJson(reply, await read(queueOf(request))),
  )

  const operator = { role: 'operator', body: 'optional' } as const
  app.post('/queues/:queue/pause', { config: { ...operator, doc: PAUSE_DOC } }, (request, reply) =>
    setPaused(request, reply, true),
  )
  app.post('/queues/:queue/resume', { config: { ...operator, doc: RESUME_DOC } }, (request, reply) =>
    setPaused(request, reply, false),
  )

  app.put(
    '/queues/:queue',
    { config: { role: 'operator', body: 'required', doc: PUT_DOC } },
    async (request, reply) => {
      const queue = queueOf(request)
      const { fair_share: fairShare, weights } = checkedBody(request, QueueBody)
      const changed = await store.directory.setQueue(queue, { fairShare, weights }, actorOf(request))
      if (changed === null) throw queueNotFound(queue)
      if (changed) log.info({ request_id: request.id, queue, fair_share: fairShare }, 'queue set')
      return sendJson(reply, await read(queue))
    },
  )

  async function setPaused(request: FastifyRequest, reply: FastifyReply, paused: boolean): Promise<FastifyReply> {
    const queue = queueOf(request)
    if (request.body !== undefined) checkedBody(request, NoBody)
    const changed = await store.directory.setPaused(queue, paused, actorOf(request))
    if (changed === null) throw queueNotFound(queue)
    if (changed) log.info({ request_id: request.id, queue }, paused ? 'queue paused' : 'queue resumed')
    // Any token serves: a hint says that the queue has work, not which.
    if (changed && !paused) wakeup.hint(`queue:${queue}`, queue)
    return sendJson(reply, await read(queue))
  }

  async function read(queue: string): Promise<QueueObject> {
    const entry = await store.directory.queue(queue)
    if (!entry) throw queueNotFound(queue)
    return queueObject(entry)
  }
}

function queueOf(request: FastifyRequest): string {
  return (request.params as { queue: string }).queue
}

function queueNotFound(queue: string): Refusal {
  return new Refusal('queue-not-found', `There is no queue ${JSON.stringify(queue.slice(0, 200))}.`)
}

function queueObject(entry: QueueEntry): QueueObject {
  return {
    queue: entry.queue,
    paused: entry.paused,
    pending: entry.pending,
    pending_capped: entry.pendingCapped,
    running: entry.running,
    running_capped: entry.runningCapped,
    oldest_waiting_seconds: entry.oldestWaitingSeconds,
    live_workers: entry.liveWorkers,
    slots: entry.slots,
    limit: entry.limit,
    fair_share: entry.fairShare,
    weights: entry.weights,
    updated_at: entry.updatedAt.toISOString(),
  }
}
