/** What lies below a run beside its events and its log: its attempts and its steps. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AttemptList } from '../../contract/event.ts'
import { STEP_SHOWN_BYTES_MAX, StepList } from '../../contract/step.ts'
import type { RunDetail } from '../../store/store.ts'
import type { ApiDeps } from '../api.ts'
import { createPresentRun } from '../present-run.ts'
import { presentStep } from '../present-step.ts'
import { principalOf } from '../principal.ts'
import { redactOptionsOf } from '../redact-options.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams, runIdOf } from '../run-path.ts'
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
  description: 'In the order in which they were committed, all of them, by whichever attempt.',
  tag: 'runs',
  params: RunParams,
  answers: { 200: { description: 'The steps.', schema: StepList } },
  refusals: ['run-not-found'],
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

  app.get('/runs/:id/attempts', { config: { role: 'viewer', doc: ATTEMPTS_DOC } }, async (request, reply) =>
    sendJson(reply, listOf(present.detail(await visibleRun(request)).attempts ?? [])),
  )

  app.get('/runs/:id/steps', { config: { role: 'viewer', doc: STEPS_DOC } }, async (request, reply) => {
    const { run } = await visibleRun(request)
    const steps = await store.steps.list(run.id, STEP_SHOWN_BYTES_MAX)
    return sendJson(reply, listOf(steps.map((step) => presentStep(step, redaction))))
  })
}

function listOf(data: unknown[]) {
  return { data, next_cursor: null }
}
