/**
 * Quotas as facts: a limit that is nearly used up, or that refused somebody. A storm of refusals by one limit is one
 * fact a minute; the store adds the minute to the name.
 */

import type { Refusal } from './errors.ts'
import { type NewFact, shortHash } from './fact.ts'
import { ALL_MODELS, type QuotaName, type QuotaWarning } from './quota.ts'
import { warningText } from './quota-warning.ts'

export type Warned = { owner: string; warnings: readonly QuotaWarning[] }
export type RefusedOwner = { owner: string; refusal: Refusal }

const EXCEEDED: readonly string[] = ['quota-exceeded', 'cost-limit-exceeded']

/** Each limit of each owner once, as it was last; of no other refusals than those of limits. */
export function quotaFacts(warned: readonly Warned[], refused: readonly RefusedOwner[]): NewFact[] {
  const facts = [
    ...warned.flatMap(({ owner, warnings }) => warnings.map((warning) => factOfWarning(owner, warning))),
    ...refused.filter(({ refusal }) => EXCEEDED.includes(refusal.code)).map(factOfRefusal),
  ]
  return [...new Map(facts.map((fact) => [fact.id, fact])).values()]
}

function factOfWarning(owner: string, warning: QuotaWarning): NewFact {
  const { rule, limit, maximum, used, action } = warning
  const told = { rule: toldName(rule), limit, maximum, used, action }
  return quotaFact('quota.warning', owner, { message: warningText(warning), ...told })
}

/** Its fields are those the refused one is told; who holds the places is not among them. */
function factOfRefusal({ owner, refusal }: RefusedOwner): NewFact {
  const { rule, limit, maximum, used } = refusal.extra ?? {}
  return quotaFact('quota.exceeded', owner, { message: refusal.detail, rule, limit, maximum, used })
}

function quotaFact(
  kind: 'quota.warning' | 'quota.exceeded',
  owner: string,
  data: { rule: unknown; limit: unknown; [name: string]: unknown },
): NewFact {
  const id = `quota_${shortHash(kind, owner, data.rule, data.limit)}`
  return { id, kind, owner, runId: null, batchId: null, data }
}

function toldName({ owner, model, together }: QuotaName): Record<string, unknown> {
  return { owner, model: model === ALL_MODELS ? null : model, together }
}
