/** Warnings of limits in words, for those who submitted successfully: how much is used, of which limit, and whose limit it is. */

import { ALL_MODELS, EVERYONE, isCostLimit, type LimitName, type QuotaWarning } from './quota.ts'

const LIMIT_WORDS: Record<LimitName, string> = {
  max_concurrent: 'concurrent runs',
  runs_per_hour: 'runs per hour',
  runs_per_day: 'runs per day',
  cost_per_day: 'cost per day',
  cost_per_month: 'cost per month',
}

export type WarningTexts = {
  /** One for each limit of runs. */
  quota: string[]
  /** Of all limits of cost; null when there is none. */
  cost: string | null
}

export function warningTexts(warnings: readonly QuotaWarning[] = []): WarningTexts {
  const textsOf = (isCost: boolean) => warnings.filter(({ limit }) => isCostLimit(limit) === isCost).map(warningText)
  const costs = textsOf(true)
  return { quota: textsOf(false), cost: costs.length === 0 ? null : costs.join('; ') }
}

export function warningText({ rule, limit, maximum, used }: QuotaWarning): string {
  const kind = isCostLimit(limit) ? 'Cost limit' : 'Quota'
  const [now, most] = [rounded(used), rounded(maximum)]
  const over = now > most ? ', which is over the limit' : ''
  return `${kind} warning: ${now} of ${most} ${LIMIT_WORDS[limit]} used${whose(rule)}${over}`
}

/** Nothing for the plain limit of an owner. */
function whose({ owner, model, together }: QuotaWarning['rule']): string {
  const about = [
    ...(model === ALL_MODELS ? [] : [`by the model ${model}`]),
    ...(owner === EVERYONE && together ? ['by all owners together'] : []),
  ]
  return about.length === 0 ? '' : ` ${about.join(' ')}`
}

/** Sums of amounts have digits that nobody meant. */
function rounded(value: number): number {
  return Number(value.toFixed(6))
}
