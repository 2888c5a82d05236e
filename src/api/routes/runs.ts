/** Runs: submit one, read one, list them. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LIST_LIMIT_DEFAULT, ListQuery } from '../../contract/list.ts'
import { SubmitBody } from '../../contract/submit.ts'
import { Refusal } from '../../run/errors.ts'
import { RUN_STATUSES } from '../../run/status.ts'
import type { Run, RunDetail, Submitted, Waiting } from '../../store/store.ts'
import { runFields } from '../../telemetry/log.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { idempotencyKey, ownerOf, traceParentOf } from '../header.ts'
import { createKnown, type Known } from '../known.ts'
import { createPresentRun } from '../present-run.ts'
import { checkedQuery } from '../query.ts'
import { resolveRun } from '../resolve-run.ts'
import { createRunIds } from '../run-id.ts'
import { runIdOf, runNotFound } from '../run-path.ts'
import { findModelOrRefuse } from '../unknown-model.ts'

export function runRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { store, config } = deps
  const present = createPresentRun({ words: config.log.redactWords })
  const submit = createSubmit(deps)

  app.post('/runs', { config: { role: 'submitter', body: 'required' } }, async (request, reply) => {
    const submitted = await submit(request)
    const { run, idempotentHit } = submitted
    const answer = { ...present.detail(await detailOf(submitted)), idempotent_hit: idempotentHit }
    if (idempotentHit) reply.header('Idempotent-Replayed', 'true')
    else reply.code(201).header('Location', answer.links.self)
    logSubmitted(request, run, idempotentHit)
    return sendJson(reply, answer)
  })

  /** A new run has no history to read; of an older one the answer shows where it stands now. */
  async function detailOf({ run, idempotentHit }: Submitted): Promise<RunDetail> {
    const older = idempotentHit ? await store.readRun(run.id) : null
    return older ?? { run, attempts: [], waiting: run.status === 'PENDING' ? waitingOfNew(run) : null }
  }

  function logSubmitted(request: FastifyRequest, run: Run, idempotentHit: boolean): void {
    const fields = { request_id: request.id, ...runFields({ ...run, runId: run.id, workerId: run.leaseOwner }) }
    if (idempotentHit) deps.log.info(fields, 'run matched')
    else deps.log.info(fields, 'run created')
  }

  app.get('/runs/:id', { config: { role: 'viewer' } }, async (request, reply) => {
    const id = runIdOf(request)
    const detail = await store.readRun(id)
    if (!detail) throw runNotFound(id)
    return sendJson(reply, present.detail(detail))
  })

  app.get('/runs', { config: { role: 'viewer' } }, async (request, reply) => {
    const query = checkedQuery(request, ListQuery)
    const filter = { statuses: [...(query.status ?? RUN_STATUSES)], owner: null }
    const page = await store.listRuns(filter, {
      limit: query.limit ?? LIST_LIMIT_DEFAULT,
      cursor: query.cursor ?? null,
    })
    return sendJson(reply, { data: page.runs.map(present.listed), next_cursor: page.nextCursor })
  })
}

function createSubmit(deps: ApiDeps): (request: FastifyRequest) => Promise<Submitted> {
  const { store, wakeup, metrics, config } = deps
  const nextRunId = createRunIds()
  const known: Known = createKnown(store)

  return async (request) => {
    const body = checkedBody(request, SubmitBody)
    const sender = {
      owner: ownerOf(request.raw),
      key: idempotencyKey(request.raw, body.idempotency_key),
      traceParent: traceParentOf(request.raw),
    }
    const model = await findModelOrRefuse(body, known, store)
    const around = { model, queues: await known.queues(), config, nowMs: Date.now() }
    const submitted = await store.submit(resolveRun(nextRunId(), body, sender, around))
    if (submitted instanceof Refusal) throw submitted
    if (!submitted.idempotentHit) {
      wakeup.hint(`queue:${submitted.run.queue}`, submitted.run.id)
      metrics.runsCreated.inc()
    }
    return submitted
  }
}

/** What can be said without asking whether a worker offers the model. */
function waitingOfNew(run: Run): Waiting {
  const until = run.availableAt
  if (until <= run.createdAt) return { reason: 'queued', detail: 'was accepted just now', until: null }
  return { reason: 'scheduled', detail: `asked to start after ${until.toISOString()}`, until }
}

function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.header('Content-Type', 'application/json; charset=utf-8').send(JSON.stringify(value))
}
