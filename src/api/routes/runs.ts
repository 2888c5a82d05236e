/** Runs: submit one, read one, list them. */

import type { FastifyInstance } from 'fastify'
import { LIST_LIMIT_DEFAULT, ListQuery } from '../../contract/list.ts'
import { SubmitBody } from '../../contract/submit.ts'
import { isBlocked } from '../../run/blocked.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { etagOf, namesEtag } from '../etag.ts'
import type { Events } from '../events.ts'
import { createPresentRun } from '../present-run.ts'
import { principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import { redactOptionsOf } from '../redact-options.ts'
import { runFilterOf } from '../run-filter.ts'
import { runIdOf } from '../run-path.ts'
import { sendJson } from '../send-json.ts'
import { senderOf } from '../sender.ts'
import type { SubmitRun } from '../submit-run.ts'
import { assertVisible } from '../visible-run.ts'
import { LIST_DOC, READ_DOC, SUBMIT_DOC } from './run-docs.ts'

export type RunRouteDeps = ApiDeps & { submitRun: SubmitRun; events: Events }

export function runRoutes(app: FastifyInstance, { store, config, submitRun, events }: RunRouteDeps): void {
  const present = createPresentRun(redactOptionsOf(config))

  app.post('/runs', { config: { role: 'submitter', body: 'required', doc: SUBMIT_DOC } }, async (request, reply) => {
    const body = checkedBody(request, SubmitBody)
    const run = await submitRun.resolve(body, senderOf(request, body.idempotency_key))
    const submitted = await submitRun.store(run, request.id)
    const answer = await submitRun.answerOf(submitted)
    if (submitted.idempotentHit) reply.header('Idempotent-Replayed', 'true')
    else reply.code(201).header('Location', answer.links.self)
    const ended = await events.waits.preferredEnd(request, reply, submitted.run.id)
    return sendJson(reply, ended ? { ...answer, ...present.detail(ended) } : answer)
  })

  app.get('/runs/:id', { config: { role: 'viewer', doc: READ_DOC } }, async (request, reply) => {
    const id = runIdOf(request)
    const principal = principalOf(request)
    const seen = request.headers['if-none-match']
    const detail =
      (await events.waits.preferredChange(request, reply, id, seen)) ?? (await store.readRun(id, principal.sees))
    assertVisible(principal, detail?.run, id)
    const etag = etagOf(detail!)
    reply.header('ETag', etag).header('Cache-Control', 'private, no-cache')
    if (namesEtag(seen, etag)) return reply.code(304).send()
    return sendJson(reply, present.detail(detail!))
  })

  app.get('/runs', { config: { role: 'viewer', doc: LIST_DOC } }, async (request, reply) => {
    const query = checkedQuery(request, ListQuery)
    const page = await store.search.page(runFilterOf(query, principalOf(request)), {
      limit: query.limit ?? LIST_LIMIT_DEFAULT,
      cursor: query.cursor ?? null,
      order: query.order ?? 'created_at_desc',
    })
    const blocked = page.runs.filter((run) => run.status === 'PENDING' && isBlocked(run)).map(({ id }) => id)
    const waiting = blocked.length > 0 ? await store.blocks.waitingOf(blocked, principalOf(request).sees) : null
    const data = page.runs.map((run) => present.listed(run, waiting?.get(run.id)))
    return sendJson(reply, { data, next_cursor: page.nextCursor })
  })
}
