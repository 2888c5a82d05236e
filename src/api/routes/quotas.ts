/**
 * Quotas: read the rules and how much of them is used, set and delete them. Owners read what concerns them, operators everything;
 * administrators write, and each write is in the audit, recorded in its transaction.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { PAGE_LIMIT_DEFAULT } from '../../contract/page.ts'
import { QuotaBody, QuotaListQuery, QuotaParams, QuotaQuery } from '../../contract/quota.ts'
import { Refusal } from '../../run/errors.ts'
import { ALL_MODELS, EVERYONE, type QuotaLimits, type QuotaName, ruleTitle } from '../../run/quota.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { presentQuota, presentRule } from '../present-quota.ts'
import { actorOf, principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import { sendJson } from '../send-json.ts'
import { DELETE_DOC, LIST_DOC, PUT_DOC, READ_DOC } from './quota-docs.ts'

export function quotaRoutes(app: FastifyInstance, { store: { quotas }, log }: ApiDeps): void {
  app.get('/quotas', { config: { role: 'viewer', doc: LIST_DOC } }, async (request, reply) => {
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null, owner = null } = checkedQuery(request, QuotaListQuery)
    const { sees } = principalOf(request)
    if (sees !== null && owner !== null && owner !== sees) return sendJson(reply, { data: [], next_cursor: null })
    const page = await quotas.list({ owner: sees ?? owner, limit, cursor })
    return sendJson(reply, { data: page.rules.map(presentRule), next_cursor: page.nextCursor })
  })

  app.get('/quotas/:owner', { config: { role: 'viewer', doc: READ_DOC } }, async (request, reply) => {
    const name = nameOf(request)
    const { sees } = principalOf(request)
    if (sees !== null && name.owner !== sees) throw notFound(name)
    const rule = await quotas.get(name)
    if (name.owner === EVERYONE && !rule) throw notFound(name)
    // A rule for each owner by itself is used by each of them, not by everyone.
    const isOfOne = name.owner !== EVERYONE || name.together
    return sendJson(reply, presentQuota(name, rule, isOfOne ? await quotas.usage(name) : []))
  })

  app.put('/quotas/:owner', { config: { role: 'admin', body: 'required', doc: PUT_DOC } }, async (request, reply) => {
    const name = nameOf(request)
    const body = checkedBody(request, QuotaBody)
    const [limits, action] = [limitsOf(body), body.action ?? 'block']
    const rule = presentRule(await quotas.put(name, limits, action, actorOf(request)))
    log.info({ request_id: request.id, quota: rule.links.self, ...limits, action }, 'quota set')
    if (rule.counted_at === null) log.warn({ quota: rule.links.self }, 'runs of before do not count for the quota yet')
    return sendJson(reply, rule)
  })

  app.delete('/quotas/:owner', { config: { role: 'admin', doc: DELETE_DOC } }, async (request, reply) => {
    const name = nameOf(request)
    if (!(await quotas.delete(name, actorOf(request)))) throw notFound(name)
    log.info({ request_id: request.id, quota: ruleTitle(name) }, 'quota deleted')
    return reply.code(204).send()
  })
}

function nameOf(request: FastifyRequest): QuotaName {
  const { together = false, model = ALL_MODELS } = checkedQuery(request, QuotaQuery)
  const params = QuotaParams.safeParse(request.params)
  if (!params.success) throw new Refusal('not-found', 'An owner has 1 to 255 printable ASCII characters.')
  const { owner } = params.data
  if (together && owner !== EVERYONE) {
    throw new Refusal('invalid-query', 'The query is not valid: together is for the owner * only.')
  }
  return { owner, model, together }
}

/** Every limit is there: what is not given is none. */
export function limitsOf(body: QuotaBody): QuotaLimits {
  return {
    max_concurrent: body.max_concurrent ?? null,
    runs_per_hour: body.runs_per_hour ?? null,
    runs_per_day: body.runs_per_day ?? null,
    cost_per_day: body.cost_per_day ?? null,
    cost_per_month: body.cost_per_month ?? null,
  }
}

function notFound(name: QuotaName): Refusal {
  return new Refusal('quota-not-found', `There is no quota of ${JSON.stringify(ruleTitle(name))}.`)
}
