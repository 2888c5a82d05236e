/**
 * What a run costs: the estimate that its model states. Admission holds it, and the end of the run replaces it by what was spent. An estimate is
 * an amount, or it is told why there is none.
 */

import { AMOUNT_WANTED, amountText, isAmount, roundAmount } from './amount.ts'
import { type Formula, parseFormula } from './cost-expression.ts'
import type { JsonSchema } from './definition.ts'
import { notParameters } from './hash-names.ts'

/** `actual`: what was spent is charged. `release`: nothing is. */
export type CostPolicy = 'actual' | 'release'

export type CostDefinition = {
  /** A number, or a CEL expression over `parameters`. */
  estimate: number | string
  /** What a second of an attempt costs that does not say itself what it cost. */
  ratePerSecond?: number
  /** `actual` when not given. */
  onFailure?: CostPolicy
  /** `actual` when not given. */
  onCancel?: CostPolicy
  /** For people; amounts of different currencies are not converted. */
  currency?: string
}

/** What a run brings to admission: its estimate, and how its end is charged, whatever becomes of the definition meanwhile. */
export type RunCost = {
  estimate: number
  ratePerSecond: number | null
  onFailure: CostPolicy
  onCancel: CostPolicy
  currency: string | null
}

/** How the row of a run in the ledger stands. */
export type CostState = 'HELD' | 'SETTLED' | 'RELEASED'

export type Estimated = { ok: true; amount: number } | { ok: false; problem: string }

const CURRENCY = /^[A-Za-z][A-Za-z0-9 _.-]{0,15}$/
const KEYS = ['estimate', 'ratePerSecond', 'onFailure', 'onCancel', 'currency']
const POLICIES = ['actual', 'release']

export type CostAmounts = { maximum: number; settled: number; held: number; estimate: number }

/** What a run that does not fit into a limit is told. */
export function costLimitText(amounts: CostAmounts, period: 'day' | 'month', currency: string | null): string {
  const [maximum, settled, held, estimate] = [amounts.maximum, amounts.settled, amounts.held, amounts.estimate].map(
    (amount) => amountText(amount, currency),
  )
  return `Cost limit exceeded: Maximum ${maximum} per ${period} allowed; ${settled} spent, ${held} held, ${estimate} more asked for`
}

/** Formulas of definitions in use. A definition that is forgotten takes its formula with it. */
const formulas = new WeakMap<CostDefinition, Formula>()

export function estimateOf(cost: CostDefinition, parameters: unknown): Estimated {
  if (typeof cost.estimate === 'number') return { ok: true, amount: roundAmount(cost.estimate) }
  let amount: number
  try {
    let formula = formulas.get(cost)
    if (!formula) {
      formula = parseFormula(cost.estimate)
      formulas.set(cost, formula)
    }
    amount = formula.evaluate(parameters)
  } catch (error) {
    return { ok: false, problem: (error as Error).message }
  }
  if (isAmount(amount)) return { ok: true, amount: roundAmount(amount) }
  return { ok: false, problem: `gives ${amount}, and a cost ${AMOUNT_WANTED}` }
}

export function runCostOf(cost: CostDefinition, estimate: number): RunCost {
  return {
    estimate,
    ratePerSecond: cost.ratePerSecond ?? null,
    onFailure: cost.onFailure ?? 'actual',
    onCancel: cost.onCancel ?? 'actual',
    currency: cost.currency ?? null,
  }
}

/** What is wrong with a cost as a model states it; `at` is the key at fault, empty for the whole. */
export function costProblems(cost: unknown, schema: JsonSchema): { at: string; detail: string }[] {
  if (cost === undefined) return []
  if (typeof cost !== 'object' || cost === null || Array.isArray(cost)) {
    return [{ at: '', detail: 'must be an object with an estimate' }]
  }
  const { estimate, ratePerSecond, onFailure, onCancel, currency } = cost as Record<string, unknown>
  const problems = Object.keys(cost)
    .filter((key) => !KEYS.includes(key))
    .map((key) => ({ at: key, detail: `there is no such key; there are ${KEYS.join(', ')}` }))
  problems.push(...estimateProblems(estimate, schema).map((detail) => ({ at: 'estimate', detail })))
  if (ratePerSecond !== undefined && !isAmount(ratePerSecond))
    problems.push({ at: 'ratePerSecond', detail: AMOUNT_WANTED })
  for (const [at, policy] of Object.entries({ onFailure, onCancel })) {
    if (policy !== undefined && !POLICIES.includes(policy as string)) {
      problems.push({ at, detail: `must be ${POLICIES.join(' or ')}` })
    }
  }
  if (currency !== undefined && !(typeof currency === 'string' && CURRENCY.test(currency))) {
    problems.push({ at: 'currency', detail: 'must be up to 16 letters and digits, such as USD' })
  }
  return problems
}

function estimateProblems(estimate: unknown, schema: JsonSchema): string[] {
  if (typeof estimate === 'number') return isAmount(estimate) ? [] : [AMOUNT_WANTED]
  if (typeof estimate !== 'string') return ['must be a number, or an expression over parameters']
  try {
    return notParameters(parseFormula(estimate).names, schema).map(
      ({ name, nearest }) => `${name} is no parameter; the nearest is ${nearest}`,
    )
  } catch (error) {
    return [`the expression ${(error as Error).message}`]
  }
}
