/** Cancel: a waiting run ends at once, a running one is asked to stop and its holder is told. */

import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Refusal } from '../../run/errors.ts'
import type { Run } from '../../store/store.ts'
import { runFields } from '../../telemetry/log.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { createPresentRun } from '../present-run.ts'
import { runIdOf, runNotFound } from '../run-path.ts'

const CancelBody = z.strictObject({})

export function cancelRoutes(app: FastifyInstance, { store, wakeup, log, config }: ApiDeps): void {
  const present = createPresentRun({ words: config.log.redactWords })

  app.post('/runs/:id/cancel', { config: { role: 'submitter', body: 'optional' } }, async (request, reply) => {
    const id = runIdOf(request)
    if (request.body !== undefined) checkedBody(request, CancelBody)
    const cancelled = await store.cancel(id)
    if (cancelled.outcome === 'not-found') throw runNotFound(id)
    if (cancelled.outcome === 'already-finished') throw alreadyFinished(cancelled.run)
    const isRequested = cancelled.outcome === 'requested'
    if (isRequested) wakeup.hint(`worker:${cancelled.holder}`, id)
    const { run } = cancelled
    const fields = { request_id: request.id, ...runFields({ ...run, runId: id, workerId: run.leaseOwner }) }
    log.info(fields, isRequested ? 'run cancel requested' : 'run cancelled')
    const detail = (await store.readRun(id)) ?? { run, attempts: [], waiting: null }
    reply.code(isRequested ? 202 : 200).header('Content-Type', 'application/json; charset=utf-8')
    return reply.send(JSON.stringify(present.detail(detail)))
  })
}

function alreadyFinished(run: Run): Refusal {
  return new Refusal('run-already-finished', `The run has already ended ${run.status}.`, {
    extra: { run_status: run.status },
  })
}
