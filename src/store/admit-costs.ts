/**
 * The part of admission that knows costs: what a run is expected to cost must fit beside what is settled and held, for every limit of cost that
 * applies; then it is held, with the run.
 *
 * Every run with a cost comes this way, also where no limit concerns it: a limit set later counts what was held before. A run that uses a
 * reservation takes over what that held, so only the difference is new.
 */

import type pg from 'pg'
import { roundAmount } from '../run/amount.ts'
import { costLimitText } from '../run/cost.ts'
import { Refusal } from '../run/errors.ts'
import {
  type AppliedRule,
  type Binding,
  COST_LIMITS,
  type CostLimit,
  type Counted,
  countedName,
  decide,
  type QuotaRule,
  rulesThatApply,
} from '../run/quota.ts'
import type { AdmissionPart, AdmittedRun, Judge, Refused, Verdict } from './admit.ts'
import { bindingFields } from './admit-quota.ts'
import { holdCosts } from './hold-costs.ts'
import { askedHolders, holdersOf } from './holders.ts'
import { type CostUsage, readCosts } from './read-costs.ts'
import type { NewRun } from './store.ts'

type Scoped = Pick<NewRun, 'owner' | 'model'>

export const ADMIT_COSTS: AdmissionPart = {
  name: 'costs',
  concerns: ({ cost }) => cost !== undefined,
  // Whatever a rule counts has one lock, runs and amounts alike.
  locks: (run, rules) => (run.cost ? limiting(rules, run).map(({ counted }) => `quota ${countedName(counted)}`) : []),
  async read(client, { runs, rules }) {
    const costly = runs.filter(({ cost }) => cost !== undefined)
    if (costly.length === 0) return null
    const scopes = scopesOf(costly.flatMap((run) => limiting(rules, run)))
    const usage = await readCosts(client, [...scopes.values()])
    return new CostJudge(rules, new Map([...scopes.keys()].map((name, index) => [name, usage[index]!])))
  },
  async usage(db, scope, rules) {
    const applied = limiting(rules, scope)
    const scopes = scopesOf(applied)
    const names = [...scopes.keys()]
    const usage = await readCosts(db, [...scopes.values()])
    return applied.flatMap(({ rule, counted }) => {
      const of = usage[names.indexOf(countedName(counted))]!
      return limitsOf(rule).map(([limit, maximum]) => {
        const sources = { runs: null, reservations: null, held: of.held, settled: settledOf(of, limit) }
        return { rule, limit, maximum, used: usedOf(of, limit), sources }
      })
    })
  },
}

class CostJudge implements Judge {
  readonly #rules: readonly QuotaRule[]
  readonly #usage: Map<string, CostUsage>
  readonly #bindings = new Map<NewRun, Binding>()

  constructor(rules: readonly QuotaRule[], usage: Map<string, CostUsage>) {
    this.#rules = rules
    this.#usage = usage
  }

  decide(run: NewRun, admitted: AdmittedRun): Verdict {
    if (!run.cost) return { admit: true }
    const { estimate } = run.cost
    const applied = limiting(this.#rules, run).map(({ rule, counted }) => {
      const usage = this.#withoutReserved(admitted, counted)
      return { rule, counted, usage: Object.fromEntries(COST_LIMITS.map((limit) => [limit, usedOf(usage, limit)])) }
    })
    const decision = decide(applied, { cost_per_day: estimate, cost_per_month: estimate })
    if (decision.kind === 'refuse') {
      this.#bindings.set(run, decision.binding)
      return { refuse: this.#refusal(admitted, decision.binding) }
    }
    return {
      admit: true,
      warnings: decision.warnings,
      ...(decision.kind === 'approve' && { blocks: [{ reason: 'approval', detail: bindingFields(decision.binding) }] }),
    }
  }

  take(admitted: AdmittedRun): void {
    const { cost, ...run } = admitted.run
    if (!cost) return
    for (const { counted } of limiting(this.#rules, run)) {
      const usage = this.#withoutReserved(admitted, counted)
      this.#usage.set(countedName(counted), { ...usage, held: roundAmount(usage.held + cost.estimate) })
    }
  }

  async write(client: pg.ClientBase, created: AdmittedRun[]): Promise<undefined> {
    const runs = created.map(({ run }) => run)
    await holdCosts(client, runs)
  }

  /** Who may not see everyone's runs is told only of those of the owner. */
  async explain(db: pg.Pool, refused: Refused[]): Promise<void> {
    const asked = refused.flatMap(({ run, refusal }) => {
      const binding = this.#bindings.get(run)
      return binding ? [{ refusal, ...askedHolders(run, binding.counted) }] : []
    })
    const holders = await holdersOf(db, asked)
    for (const [index, { refusal }] of asked.entries()) refusal.extra!.holders = holders[index]
  }

  /**
   * What is used by others than the reservation that the run consumes. Should that have expired before it was counted here, it cannot be
   * consumed either, and everything is undone.
   */
  #withoutReserved({ reservation }: AdmittedRun, counted: Counted): CostUsage {
    const usage = this.#usage.get(countedName(counted))!
    const isCounted = reservation && (counted.model === null || reservation.model === counted.model)
    return isCounted ? { ...usage, held: Math.max(0, roundAmount(usage.held - (reservation.cost ?? 0))) } : usage
  }

  #refusal(admitted: AdmittedRun, binding: Binding): Refusal {
    const { counted, limit, maximum, used } = binding
    const { estimate, currency } = admitted.run.cost!
    const { held } = this.#withoutReserved(admitted, counted)
    const amounts = { maximum, held, settled: roundAmount(used - held), estimate }
    const text = costLimitText(amounts, limit === 'cost_per_day' ? 'day' : 'month', currency)
    return new Refusal('cost-limit-exceeded', text, {
      extra: { ...bindingFields(binding), ...amounts, currency, holders: [] },
    })
  }
}

/** The rules that apply and say something about cost. */
function limiting(rules: readonly QuotaRule[], run: Scoped): AppliedRule[] {
  const applied = rulesThatApply(rules, run).filter(({ rule }) => limitsOf(rule).length > 0)
  return [...new Map(applied.map((each) => [countedName(each.counted), each])).values()]
}

function scopesOf(applied: readonly AppliedRule[]): Map<string, Counted> {
  return new Map(applied.map(({ counted }) => [countedName(counted), counted]))
}

function limitsOf({ limits }: QuotaRule): [CostLimit, number][] {
  return COST_LIMITS.flatMap((limit) => {
    const maximum = limits[limit]
    return maximum === null ? [] : [[limit, maximum] as [CostLimit, number]]
  })
}

function settledOf({ settledToday, settledThisMonth }: CostUsage, limit: CostLimit): number {
  return limit === 'cost_per_day' ? settledToday : settledThisMonth
}

function usedOf(usage: CostUsage, limit: CostLimit): number {
  return roundAmount(usage.held + settledOf(usage, limit))
}
