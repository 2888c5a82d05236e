/**
 * A rule as people type it, and as the API wants it. What is no number is sent as it was typed: the API says what is
 * wrong with it.
 */

import type { QuotaAction, QuotaBody, QuotaLimit, QuotaRule, QuotaRuleName } from '@holdfast/client'
import { LIMITS } from './usage-words.ts'

export type Whose = 'owner' | 'each' | 'together'

export type RuleForm = {
  whose: Whose
  owner: string
  /** Empty for all. */
  model: string
  action: QuotaAction
  limits: Record<QuotaLimit, string>
}

export function emptyForm(owner: string): RuleForm {
  const whose = owner === '*' ? 'each' : 'owner'
  const limits = { max_concurrent: '', runs_per_hour: '', runs_per_day: '', cost_per_day: '', cost_per_month: '' }
  return { whose, owner: owner === '*' ? '' : owner, model: '', action: 'block', limits }
}

export function formOf(rule: QuotaRule): RuleForm {
  const form = emptyForm(rule.owner)
  for (const limit of LIMITS) form.limits[limit] = rule[limit] === null ? '' : String(rule[limit])
  return { ...form, ...(rule.together && { whose: 'together' }), model: rule.model ?? '', action: rule.action }
}

export function nameOf({ whose, owner, model }: RuleForm): QuotaRuleName {
  return {
    owner: whose === 'owner' ? owner.trim() : '*',
    model: model === '' ? null : model,
    together: whose === 'together',
  }
}

export function bodyOf({ limits, action }: RuleForm): QuotaBody {
  return { ...Object.fromEntries(LIMITS.map((limit) => [limit, numberIn(limits[limit])])), action }
}

export function isSameName(one: QuotaRuleName, other: QuotaRuleName): boolean {
  return one.owner === other.owner && one.model === other.model && one.together === other.together
}

/** Commas only between thousands: `1,5` may be meant as less than two. */
const GROUPED = /^\d{1,3}(,\d{3})+(\.\d+)?$/

function numberIn(text: string): number | string | null {
  const trimmed = text.trim()
  if (trimmed === '') return null
  const number = Number(GROUPED.test(trimmed) ? trimmed.replaceAll(',', '') : trimmed)
  return Number.isNaN(number) ? text : number
}
