/** What lies below a run beside its events: its attempts; and its steps and logs, which do not exist yet. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AttemptList, LogList, StepList } from '../../contract/event.ts'
import type { RunDetail } from '../../store/store.ts'
import type { ApiDeps } from '../api.ts'
import { createPresentRun } from '../present-run.ts'
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
  description: 'Models have no steps yet: the list is always empty.',
  tag: 'runs',
  params: RunParams,
  answers: { 200: { description: 'An empty list.', schema: StepList } },
  refusals: ['run-not-found'],
}

const LOGS_DOC: RouteDoc = {
  summary: 'Read the logs of a run',
  description: 'The output of attempts is not kept yet: the list is always empty.',
  tag: 'runs',
  params: RunParams,
  answers: { 200: { description: 'An empty list.', schema: LogList } },
  refusals: ['run-not-found'],
}

export function attemptRoutes(app: FastifyInstance, { store, config }: ApiDeps): void {
  const present = createPresentRun(redactOptionsOf(config))

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

  for (const [path, doc] of [
    ['/runs/:id/steps', STEPS_DOC],
    ['/runs/:id/logs', LOGS_DOC],
  ] as const) {
    app.get(path, { config: { role: 'viewer', doc } }, async (request, reply) => {
      await visibleRun(request)
      return sendJson(reply, listOf([]))
    })
  }
}

function listOf(data: unknown[]) {
  return { data, next_cursor: null }
}
