/** Approve and reject: an operator's word on a run that waits for it. Saying the same twice changes nothing. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApprovalBody } from '../../contract/approval.ts'
import { RunObject } from '../../contract/run.ts'
import { Refusal } from '../../run/errors.ts'
import type { Decided } from '../../store/ports/blocks.ts'
import type { Run } from '../../store/store.ts'
import { runFields } from '../../telemetry/log.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { tellOf } from '../freed-places.ts'
import { createPresentRun } from '../present-run.ts'
import { actorOf, principalOf } from '../principal.ts'
import { redactOptionsOf } from '../redact-options.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams, runIdOf, runNotFound } from '../run-path.ts'
import { sendJson } from '../send-json.ts'

const refusals: RouteDoc['refusals'] = ['run-not-found', 'run-already-finished', 'not-waiting-for-approval']
const common = { tag: 'runs', params: RunParams, body: ApprovalBody, refusals } as const

const APPROVE_DOC: RouteDoc = {
  ...common,
  summary: 'Approve a run',
  description:
    'Lets a run go that waits for approval: at once, at the time it asked for, or into the line of its concurrency key. It is audited.',
  answers: { 200: { description: 'The run is approved, now or since an earlier request.', schema: RunObject } },
}

const REJECT_DOC: RouteDoc = {
  ...common,
  summary: 'Reject a run',
  description: 'Cancels a run that waits for approval; the reason is its last error. It is audited.',
  answers: { 200: { description: 'The run is CANCELLED, now or since an earlier request.', schema: RunObject } },
}

export function approvalRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { store, wakeup, log, config } = deps
  const present = createPresentRun(redactOptionsOf(config))
  const operator = { role: 'operator', body: 'optional' } as const

  app.post('/runs/:id/approve', { config: { ...operator, doc: APPROVE_DOC } }, (request, reply) =>
    decide(request, reply, 'approve'),
  )
  app.post('/runs/:id/reject', { config: { ...operator, doc: REJECT_DOC } }, (request, reply) =>
    decide(request, reply, 'reject'),
  )

  async function decide(
    request: FastifyRequest,
    reply: FastifyReply,
    verb: 'approve' | 'reject',
  ): Promise<FastifyReply> {
    const id = runIdOf(request)
    const { reason } = request.body === undefined ? {} : checkedBody(request, ApprovalBody)
    const { sees } = principalOf(request)
    const decided = await store.blocks[verb]({ runId: id, actor: actorOf(request), reason: reason ?? null, sees })
    if (decided.outcome === 'not-found') throw runNotFound(id)
    if (decided.outcome !== 'done') throw notWaiting(decided)
    tellOf(decided, wakeup)
    const { run } = decided
    const fields = { request_id: request.id, ...runFields({ ...run, runId: id, workerId: run.leaseOwner }) }
    log.info(fields, verb === 'approve' ? 'run approved' : 'run rejected')
    const detail = (await store.readRun(id, sees)) ?? { run, attempts: [], waiting: null }
    return sendJson(reply, present.detail(detail))
  }
}

function notWaiting({ outcome, run }: Extract<Decided, { run: Run }>): Refusal {
  const extra = { run_status: run.status }
  if (outcome === 'finished') {
    return new Refusal('run-already-finished', `The run has already ended ${run.status}.`, { extra })
  }
  return new Refusal('not-waiting-for-approval', `The run ${run.id} does not wait for approval.`, { extra })
}
