/** Retry: a finished run is repeated as a new one that names it. Two clicks make one run. */

import type { FastifyInstance } from 'fastify'
import { RetryBody } from '../../contract/retry.ts'
import { SubmitAnswer } from '../../contract/run.ts'
import { Refusal } from '../../run/errors.ts'
import type { NewRun, Run, Store } from '../../store/store.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { createResolveRetry } from '../retry-run.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams, runIdOf, runNotFound } from '../run-path.ts'
import { sendJson } from '../send-json.ts'
import { senderOf } from '../sender.ts'
import type { SubmitRun } from '../submit-run.ts'

const DOC: RouteDoc = {
  summary: 'Retry a finished run',
  description: [
    'Makes a new run with the parameters, model, version, queue, priority, tags, title, batch and owner of the old one, which it',
    'names in `retry_of`, and with the concurrency key that its request asked for. While a retry of the run is active, a further call gets that one. With `from: "failed_step"` the new run takes',
    'over the outputs of all steps that are done, and goes on with the first that is not.',
  ].join(' '),
  tag: 'runs',
  params: RunParams,
  body: RetryBody,
  headers: {
    'idempotency-key':
      '1 to 255 printable ASCII characters. The same key gets the same retry, also after that has ended.',
    traceparent: 'W3C trace context; kept on the new run.',
  },
  answers: {
    200: {
      description: 'A retry of this run is active already.',
      schema: SubmitAnswer,
      headers: { 'Idempotent-Replayed': '`true`.' },
    },
    201: {
      description: 'The new run.',
      schema: SubmitAnswer,
      headers: { Location: 'The path of the new run.' },
    },
  },
  refusals: [
    'idempotency-key-invalid',
    'quota-exceeded',
    'cost-limit-exceeded',
    'concurrency-limit',
    'cost-not-computable',
    'run-not-found',
    'run-not-finished',
    'no-steps',
    'model-not-registered',
    'idempotency-key-reused',
    'invalid-parameters',
  ],
}

export function retryRoutes(
  app: FastifyInstance,
  { store, config, submitRun }: ApiDeps & { submitRun: SubmitRun },
): void {
  const resolveRetry = createResolveRetry({ known: submitRun.known, config, store })

  app.post('/runs/:id/retry', { config: { role: 'submitter', body: 'optional', doc: DOC } }, async (request, reply) => {
    const id = runIdOf(request)
    const { from } = request.body === undefined ? {} : checkedBody(request, RetryBody)
    const sender = senderOf(request, null)
    const original = (await store.readRun(id, sender.sees))?.run
    if (!original || (sender.sees !== null && original.owner !== sender.sees)) throw runNotFound(id)
    const run = await resolveRetry(submitRun.nextRunId(), original, sender)
    const submitted = await submitRun.store({ ...run, ...(await stepsOf(store, original, from)) }, request.id)
    if (submitted.run.retryOf !== id) throw keyOfAnother(submitted.run)
    const answer = await submitRun.answerOf(submitted)
    if (submitted.idempotentHit) reply.header('Idempotent-Replayed', 'true')
    else reply.code(201).header('Location', answer.links.self)
    return sendJson(reply, answer)
  })
}

/** The steps of the old run count as the new one's own; nothing is copied. */
async function stepsOf(
  store: Pick<Store, 'steps'>,
  original: Run,
  from: RetryBody['from'],
): Promise<Pick<NewRun, 'stepsFrom'>> {
  if (from !== 'failed_step') return {}
  if ((await store.steps.bytesOf([original.id])).size === 0) throw noSteps(original)
  return { stepsFrom: original.id }
}

function noSteps({ id }: Run): Refusal {
  return new Refusal(
    'no-steps',
    `The run ${id} has no steps that a new run could keep, so it can only be retried from the start.`,
  )
}

function keyOfAnother({ id }: Run): Refusal {
  const detail = `The idempotency key was used for run ${id}, which is no retry of this one.`
  return new Refusal('idempotency-key-reused', detail, { extra: { run_id: id } })
}
