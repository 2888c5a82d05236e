/** What lies below a run beside its events and its log: its attempts and its steps. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AttemptList } from '../../contract/event.ts'
import { PAGE_LIMIT_DEFAULT } from '../../contract/page.ts'
import { STEP_SHOWN_BYTES_MAX, StepList, type StepObject, StepQuery } from '../../contract/step.ts'
import type { RunDetail } from '../../store/store.ts'
import type { ApiDeps } from '../api.ts'
import { createPresentRun } from '../present-run.ts'
import { presentStep } from '../present-step.ts'
import { principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import { redactOptionsOf } from '../redact-options.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams, runIdOf } from '../run-path.ts'
import { runSteps } from '../run-steps.ts'
import { sendJson } from '../send-json.ts'
import { assertVisible } from '../visible-run.ts'

const ATTEMPTS_DOC: RouteDoc = {
  summary: 'List the attempts of a run',
  description: 'In the order of their numbers, all of them.',
  tag: 'runs',
  params: RunParams,
  answers: { 200: { description: 'The attempts.', schema: AttemptList } },
  refusals: ['run-not-found'],
}

const STEPS_DOC: RouteDoc = {
  summary: 'List the steps of a run',
  description: [
    'All of them: those that the model names, in their order, then others in the order in which they were committed. Steps that are under',
    'way are as they stood a moment ago. The items of a map are counted; `?items=<name>` lists those that are done, a page at a time.',
  ].join(' '),
  tag: 'runs',
  params: RunParams,
  query: StepQuery,
  answers: { 200: { description: 'The steps.', schema: StepList } },
  refusals: ['run-not-found', 'invalid-query'],
}

export function attemptRoutes(app: FastifyInstance, { store, config }: ApiDeps): void {
  const redaction = redactOptionsOf(config)
  const present = createPresentRun(redaction)

  async function visibleRun(request: FastifyRequest): Promise<RunDetail> {
    const id = runIdOf(request)
    const principal = principalOf(request)
    const detail = await store.readRun(id, principal.sees)
    assertVisible(principal, detail?.run, id)
    return detail!
  }

  async function allSteps(detail: RunDetail): Promise<StepObject[]> {
    const { id, model, modelVersion } = detail.run
    const [done, latest, definition] = await Promise.all([
      store.steps.overview(id, STEP_SHOWN_BYTES_MAX),
      store.steps.states(id),
      store.findModel(model, modelVersion),
    ])
    return runSteps({ detail, declared: definition?.definition.steps ?? [], done, latest }, redaction)
  }

  app.get('/runs/:id/attempts', { config: { role: 'viewer', doc: ATTEMPTS_DOC } }, async (request, reply) =>
    sendJson(reply, listOf(present.detail(await visibleRun(request)).attempts ?? [])),
  )

  app.get('/runs/:id/steps', { config: { role: 'viewer', doc: STEPS_DOC } }, async (request, reply) => {
    const { items: map, limit = PAGE_LIMIT_DEFAULT, cursor = null } = checkedQuery(request, StepQuery)
    const detail = await visibleRun(request)
    const { run } = detail
    if (map === undefined) return sendJson(reply, listOf(await allSteps(detail)))
    const page = await store.steps.items(run.id, map, { limit, cursor, textBytesMax: STEP_SHOWN_BYTES_MAX })
    const data = page.steps.map((step) => presentStep(step, run.id, redaction))
    return sendJson(reply, { data, next_cursor: page.nextCursor })
  })
}

function listOf(data: unknown[]) {
  return { data, next_cursor: null }
}
