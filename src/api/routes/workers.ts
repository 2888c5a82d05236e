/** Workers: who takes runs, of what, and whether they still give signs of life. For operators: it tells hosts and process ids. */

import type { FastifyInstance } from 'fastify'
import { type WorkerObject, WorkersAnswer, WorkersQuery } from '../../contract/directory.ts'
import { PAGE_LIMIT_DEFAULT } from '../../contract/page.ts'
import type { WorkerEntry } from '../../store/ports/directory.ts'
import type { ApiDeps } from '../api.ts'
import { checkedQuery } from '../query.ts'
import type { RouteDoc } from '../route-doc.ts'
import { sendJson } from '../send-json.ts'

const DOC: RouteDoc = {
  summary: 'List the workers',
  description: 'The latest started first. Workers that have been gone for a day are forgotten.',
  tag: 'workers',
  query: WorkersQuery,
  answers: { 200: { description: 'A page of workers.', schema: WorkersAnswer } },
  refusals: ['invalid-query'],
}

export function workerRoutes(app: FastifyInstance, { store }: ApiDeps): void {
  app.get('/workers', { config: { role: 'operator', doc: DOC } }, async (request, reply) => {
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null, state = null } = checkedQuery(request, WorkersQuery)
    const page = await store.directory.workers({ limit, cursor, state })
    const answer = { data: page.items.map(workerObject), next_cursor: page.nextCursor }
    return sendJson(reply, answer)
  })
}

function workerObject(entry: WorkerEntry): WorkerObject {
  return {
    worker_id: entry.workerId,
    state: entry.state,
    host: entry.host,
    pid: entry.pid,
    version: entry.version,
    queues: entry.queues.map((queue) => ({ queue, limit: entry.queueLimits[queue] ?? null })),
    models: entry.models.map((model) => ({ model, limit: entry.modelLimits[model] ?? null })),
    concurrency: entry.concurrency,
    running: entry.running,
    started_at: entry.startedAt.toISOString(),
    last_seen_at: entry.lastSeenAt.toISOString(),
    stopped_at: entry.stoppedAt?.toISOString() ?? null,
  }
}
