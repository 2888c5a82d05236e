/** Cancel: a waiting run ends at once, a running one is asked to stop and its holder is told. */

import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { RunObject } from '../../contract/run.ts'
import { Refusal } from '../../run/errors.ts'
import type { Run } from '../../store/store.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { createCancelRun } from '../cancel-run.ts'
import { createPresentRun } from '../present-run.ts'
import { principalOf } from '../principal.ts'
import { redactOptionsOf } from '../redact-options.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams, runIdOf, runNotFound } from '../run-path.ts'
import { sendJson } from '../send-json.ts'

const CancelBody = z.strictObject({})

const DOC: RouteDoc = {
  summary: 'Cancel a run',
  description: 'A waiting run ends at once. A running one is asked to stop; a success that comes first stands.',
  tag: 'runs',
  params: RunParams,
  body: CancelBody,
  answers: {
    200: { description: 'The run is CANCELLED, now or since an earlier request.', schema: RunObject },
    202: { description: 'The run is RUNNING and its worker has been asked to stop it.', schema: RunObject },
  },
  refusals: ['run-not-found', 'run-already-finished'],
}

export function cancelRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { store, config } = deps
  const present = createPresentRun(redactOptionsOf(config))
  const cancelRun = createCancelRun(deps)

  app.post(
    '/runs/:id/cancel',
    { config: { role: 'submitter', body: 'optional', doc: DOC } },
    async (request, reply) => {
      const id = runIdOf(request)
      if (request.body !== undefined) checkedBody(request, CancelBody)
      const cancelled = await cancelRun(id, principalOf(request).sees, request.id)
      if (cancelled.outcome === 'not-found') throw runNotFound(id)
      if (cancelled.outcome === 'already-finished') throw alreadyFinished(cancelled.run)
      const isRequested = cancelled.outcome === 'requested'
      const { run } = cancelled
      const detail = (await store.readRun(id)) ?? { run, attempts: [], waiting: null }
      return sendJson(reply.code(isRequested ? 202 : 200), present.detail(detail))
    },
  )
}

function alreadyFinished(run: Run): Refusal {
  return new Refusal('run-already-finished', `The run has already ended ${run.status}.`, {
    extra: { run_status: run.status },
  })
}
