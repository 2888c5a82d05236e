/** The runs that retry a run: who looks at a failed one wants to know whether somebody has done it again, and how that went. */

import type { FastifyInstance } from 'fastify'
import { RunRetryList } from '../../contract/retry.ts'
import type { ApiDeps } from '../api.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams } from '../run-path.ts'
import { sendJson } from '../send-json.ts'
import { visibleRunId } from '../visible-run.ts'

const DOC: RouteDoc = {
  summary: 'List the retries of a run',
  description:
    'The runs that name this one in `retry_of`, newest first, the newest 100 at most. None before it has ended.',
  tag: 'runs',
  params: RunParams,
  answers: { 200: { description: 'The retries.', schema: RunRetryList } },
  refusals: ['run-not-found'],
}

export function retriesRoutes(app: FastifyInstance, { store }: ApiDeps): void {
  app.get('/runs/:id/retries', { config: { role: 'viewer', doc: DOC } }, async (request, reply) => {
    const runId = await visibleRunId(request, store)
    const data = (await store.search.retries(runId)).map((retry) => ({
      run_id: retry.runId,
      status: retry.status,
      created_at: retry.createdAt.toISOString(),
    }))
    const answer: RunRetryList = { data, next_cursor: null }
    return sendJson(reply, answer)
  })
}
