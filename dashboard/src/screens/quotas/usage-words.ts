/** Limits, rules and what uses them, in words and in shares of a bar. Pure. */

import type { ModelInfo, QuotaAction, QuotaLimit, QuotaRuleName, QuotaUsage } from '@holdfast/client'
import { formatNumber } from '../../parts/format.ts'

/** From this part of a limit on the service warns, and so do we. */
const WARN_FROM = 0.8

export const LIMITS: readonly QuotaLimit[] = [
  'max_concurrent',
  'runs_per_hour',
  'runs_per_day',
  'cost_per_day',
  'cost_per_month',
]

export const LIMIT_WORDS: Record<QuotaLimit, string> = {
  max_concurrent: 'Runs at once',
  runs_per_hour: 'Runs per hour',
  runs_per_day: 'Runs per day',
  cost_per_day: 'Cost per day',
  cost_per_month: 'Cost per month',
}

export const ACTION_WORDS: Record<QuotaAction, string> = {
  block: 'Refuse the run',
  warn: 'Accept it with a warning',
  require_approval: 'Let it wait for approval',
}

export function isCost(limit: QuotaLimit): boolean {
  return limit === 'cost_per_day' || limit === 'cost_per_month'
}

/** Whose rule it is. */
export function whoseWords({ owner, together }: Pick<QuotaRuleName, 'owner' | 'together'>): string {
  if (owner !== '*') return owner
  return together ? 'Everyone together' : 'Each owner by itself'
}

export function ruleWords(rule: QuotaRuleName): string {
  const whose = rule.owner === '*' ? whoseWords(rule).toLowerCase() : rule.owner
  return rule.model === null ? whose : `${whose}, model ${rule.model}`
}

/** The only currency that models use which a rule counts; null when there is none or more than one. */
export function currencyOf(models: readonly Pick<ModelInfo, 'name' | 'cost'>[], model: string | null): string | null {
  const counted = models.filter(({ name, cost }) => cost !== null && (model === null || name === model))
  const found = new Set(counted.map(({ cost }) => cost!.currency))
  const [only] = found
  return found.size === 1 ? (only ?? null) : null
}

export function amountWords(limit: QuotaLimit, amount: number, currency: string | null): string {
  return isCost(limit) && currency !== null ? `${formatNumber(amount)} ${currency}` : formatNumber(amount)
}

export type UsageLevel = 'calm' | 'near' | 'full'

export function levelOf({ used, maximum }: Pick<QuotaUsage, 'used' | 'maximum'>): UsageLevel {
  if (used >= maximum) return 'full'
  return used >= maximum * WARN_FROM ? 'near' : 'calm'
}

/** What there is no more than 100 of, whatever is used. */
export function percentOf({ used, maximum }: Pick<QuotaUsage, 'used' | 'maximum'>): number {
  return maximum === 0 ? 100 : Math.round((used / maximum) * 100)
}

export type Share = { name: string; amount: number; percent: number; look: 'solid' | 'striped' }

/** The pieces of a bar: what counts for good, and what is only held. They never add up to more than the bar. */
export function sharesOf({ maximum, used, sources }: QuotaUsage): Share[] {
  const pieces = [
    { name: 'runs', amount: sources.runs, look: 'solid' as const },
    { name: 'reservations', amount: sources.reservations, look: 'striped' as const },
    { name: 'spent', amount: sources.settled, look: 'solid' as const },
    { name: 'held', amount: sources.held, look: 'striped' as const },
  ]
  const whole = Math.max(maximum, used)
  return pieces.flatMap(({ name, amount, look }) => {
    if (amount === null) return []
    return [{ name, amount, look, percent: whole === 0 ? 0 : (amount / whole) * 100 }]
  })
}

/** `3 runs, 1 reservation`, `60 USD spent, 30 USD held`. */
export function sourceWords(usage: QuotaUsage, currency: string | null): string {
  const { limit, sources } = usage
  const parts = isCost(limit)
    ? [
        sources.settled !== null && `${amountWords(limit, sources.settled, currency)} spent`,
        sources.held !== null && `${amountWords(limit, sources.held, currency)} held`,
      ]
    : [counted(sources.runs, 'run'), counted(sources.reservations, 'reservation')]
  return parts.filter((part) => part !== false).join(', ')
}

function counted(amount: number | null, word: string): string | false {
  return amount !== null && `${formatNumber(amount)} ${word}${amount === 1 ? '' : 's'}`
}
