/** Failed runs grouped by model and error class: what to look at, and what to redrive with `POST /bulk`. */

import type { FastifyInstance } from 'fastify'
import { type FailureGroupObject, FailuresAnswer, FailuresQuery } from '../../contract/failures.ts'
import { PAGE_LIMIT_DEFAULT } from '../../contract/page.ts'
import type { FailureGroup } from '../../store/ports/search.ts'
import type { ApiDeps } from '../api.ts'
import { principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import type { RouteDoc } from '../route-doc.ts'
import { sendJson } from '../send-json.ts'

const DOC: RouteDoc = {
  summary: 'List failures by model and error class',
  description: [
    'The dead-letter list. Each group carries the filter of its runs: `GET /runs` lists them with it, and `POST /bulk` with the action',
    '`retry` makes new runs of them. A page may be short while `next_cursor` is not null.',
  ].join(' '),
  tag: 'runs',
  query: FailuresQuery,
  answers: { 200: { description: 'A page of groups, by model and error class.', schema: FailuresAnswer } },
  refusals: [],
}

export function failureRoutes(app: FastifyInstance, { store }: ApiDeps): void {
  app.get('/failures', { config: { role: 'viewer', doc: DOC } }, async (request, reply) => {
    const { model = null, limit = PAGE_LIMIT_DEFAULT, cursor = null } = checkedQuery(request, FailuresQuery)
    const { sees } = principalOf(request)
    const page = await store.search.failures({ model, sees, limit, cursor })
    const answer = { data: page.groups.map(groupObject), next_cursor: page.nextCursor }
    return sendJson(reply, answer)
  })
}

function groupObject(group: FailureGroup): FailureGroupObject {
  return {
    model: group.model,
    error_class: group.errorClass,
    count: group.count,
    count_capped: group.countCapped,
    newest_at: group.newestAt.toISOString(),
    oldest_at: group.oldestAt.toISOString(),
    example: { run_id: group.example.runId, message: group.example.message },
    filter: { status: ['FAILED'], model: [group.model], error_class: [group.errorClass] },
  }
}
