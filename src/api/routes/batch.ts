/**
 * Many runs in one request. Each item is answered as `POST /runs` would answer it: one that is refused is refused before anything
 * is stored for it, and never takes its neighbours along. All that are accepted are stored in one transaction.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { BATCH_BODY_BYTES_MAX, BatchAnswer, BatchBody, BatchEnvelope } from '../../contract/batch.ts'
import { SubmitBody } from '../../contract/submit.ts'
import { ERRORS, Refusal } from '../../run/errors.ts'
import type { Submitted } from '../../store/store.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody, checkedValue } from '../body.ts'
import { problemOf } from '../problem.ts'
import type { RouteDoc } from '../route-doc.ts'
import type { ResolvedRun } from '../run-files.ts'
import { sendJson } from '../send-json.ts'
import { senderOf } from '../sender.ts'
import type { SubmitRun } from '../submit-run.ts'

/** Other requests get their turn after so many items were checked. */
const CHECKED_PER_TURN = 50

/** What is not registered is looked for once per batch, not once per item. */
type UnknownModels = Map<string, Refusal>

type Item = BatchAnswer['data'][number]

const DOC: RouteDoc = {
  summary: 'Submit many runs',
  description: [
    'Up to 1,000 runs and 16 MiB. The answer has one status per run, in order: 201 for a new one, 200 for one that an earlier request',
    'or an earlier item made, else that of its problem. Each run may carry its own `idempotency_key`.',
  ].join(' '),
  tag: 'runs',
  body: BatchBody,
  headers: {
    'holdfast-owner': 'For whom the runs are made, where the caller may act for others.',
    traceparent: 'W3C trace context; kept on each run.',
  },
  answers: { 200: { description: 'What became of each run.', schema: BatchAnswer } },
  refusals: [],
}

export function batchRoutes(
  app: FastifyInstance,
  { submitRun, config }: Pick<ApiDeps, 'config'> & { submitRun: SubmitRun },
): void {
  const bodyLimit = Math.max(BATCH_BODY_BYTES_MAX, config.http.bodyLimitBytes)

  app.post(
    '/runs/batch',
    { bodyLimit, config: { role: 'submitter', body: 'required', doc: DOC } },
    async (request, reply) => {
      refuseKeyHeader(request)
      const { runs } = checkedBody(request, BatchEnvelope)
      const data = await submitAll(runs, request)
      return sendJson(reply, { data } satisfies BatchAnswer)
    },
  )

  async function submitAll(items: unknown[], request: FastifyRequest): Promise<Item[]> {
    const resolved = await resolveAll(items, request)
    const accepted = resolved.filter((run): run is ResolvedRun => !(run instanceof Refusal))
    const stored = accepted.length > 0 ? await submitRun.storeMany(accepted, request.id) : []
    const answers = new Map(accepted.map((run, index) => [run, stored[index]!]))
    return resolved.map((run) => itemOf(run instanceof Refusal ? run : answers.get(run)!, request.id))
  }

  async function resolveAll(items: unknown[], request: FastifyRequest): Promise<(ResolvedRun | Refusal)[]> {
    const resolved: (ResolvedRun | Refusal)[] = []
    const unknownModels: UnknownModels = new Map()
    for (const item of items) {
      if (resolved.length % CHECKED_PER_TURN === CHECKED_PER_TURN - 1) await nextTurn()
      resolved.push(await resolveOne(item, request, unknownModels))
    }
    return resolved
  }

  async function resolveOne(
    item: unknown,
    request: FastifyRequest,
    unknown: UnknownModels,
  ): Promise<ResolvedRun | Refusal> {
    try {
      const body = checkedValue(item, SubmitBody)
      const model = JSON.stringify([body.model, body.model_version])
      return unknown.get(model) ?? (await resolveBody(body, model, request, unknown))
    } catch (error) {
      // What is no refusal of this item, such as a bug, fails the request before anything is stored.
      if (error instanceof Refusal && ERRORS[error.code].status < 500) return error
      throw error
    }
  }

  async function resolveBody(body: SubmitBody, model: string, request: FastifyRequest, unknown: UnknownModels) {
    try {
      return await submitRun.resolve(body, senderOf(request, body.idempotency_key))
    } catch (error) {
      if (error instanceof Refusal && isUnknownModel(error)) unknown.set(model, error)
      throw error
    }
  }

  function itemOf(answer: Submitted | Refusal, requestId: string): Item {
    if (answer instanceof Refusal) {
      const problem = problemOf(answer, requestId)
      return { status: problem.status, run: null, problem }
    }
    return { status: answer.idempotentHit ? 200 : 201, run: submitRun.listedAnswerOf(answer), problem: null }
  }
}

function isUnknownModel({ code }: Refusal): boolean {
  return code === 'unknown-model' || code === 'unknown-model-version'
}

function refuseKeyHeader(request: FastifyRequest): void {
  if (request.headers['idempotency-key'] === undefined) return
  const detail =
    'A batch has no key of its own: leave the Idempotency-Key header out and give each run its idempotency_key.'
  throw new Refusal('invalid-header', detail)
}
