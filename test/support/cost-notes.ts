/**
 * What is held and charged, in whole cents, as a person would note it with pencil and paper: the model that property tests
 * hold the cost ledger against. It adds everything up anew each time it is asked, and knows nothing of days that were rolled up.
 */

import type { QuotaAction } from '../../src/run/quota.ts'
import type { Lease } from '../../src/store/store.ts'

export type Policy = 'actual' | 'release'
export type Period = 'day' | 'month'

export type NotedRule = {
  owner: string
  model: string
  together: boolean
  day: number | null
  month: number | null
  action: QuotaAction
}

/** One attempt: `reported` in cents, null for nothing said. */
type NotedAttempt = { fromMs: number; toMs: number | null; reported: number | null }

export type Life = {
  id: string
  owner: string
  model: string
  cents: number
  centsPerSecond: number | null
  onFailure: Policy
  onCancel: Policy
  status: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED'
  lease: Lease | null
  attempts: NotedAttempt[]
  releases: number
  isCancelling: boolean
  /** Once the amount is noted; until then the estimate is held. */
  charged: number | null
  endDay: string
}

export type NotedReservation = {
  id: string
  owner: string
  model: string | null
  cents: number
  untilMs: number
  isActive: boolean
}

/** Whose amounts a rule is about; null for everyone's, of every model. */
type Scope = { owner: string | null; model: string | null }
type Asked = { owner: string; model: string; cents: number; reservation?: NotedReservation }

export class CostNotes {
  readonly rules: readonly NotedRule[]
  readonly lives: Life[] = []
  readonly reservations: NotedReservation[] = []

  constructor(rules: readonly NotedRule[]) {
    this.rules = rules
  }

  /** Each scope with the most specific rule about it. */
  applied({ owner, model }: { owner: string; model: string }): { rule: NotedRule; scope: Scope }[] {
    const find = (of: string, within: string, together: boolean) =>
      this.rules.find((rule) => rule.owner === of && rule.model === within && rule.together === together)
    const all = [
      { rule: find(owner, '', false) ?? find('*', '', false), scope: { owner, model: null } },
      { rule: find('*', '', true), scope: { owner: null, model: null } },
      { rule: model ? (find(owner, model, false) ?? find('*', model, false)) : undefined, scope: { owner, model } },
      { rule: model ? find('*', model, true) : undefined, scope: { owner: null, model } },
    ]
    return all.flatMap(({ rule, scope }) => (rule ? [{ rule, scope }] : []))
  }

  held(scope: Scope, nowMs: number, without?: NotedReservation): number {
    const runs = this.lives.filter((life) => life.charged === null && isOf(life, scope))
    const reserved = this.reservations.filter(
      (one) => one !== without && one.isActive && one.untilMs > nowMs && isOf(one, scope),
    )
    return sum([...runs, ...reserved].map(({ cents }) => cents))
  }

  settled(scope: Scope, period: Period, nowMs: number): number {
    const length = period === 'day' ? 10 : 7
    const now = dayOf(nowMs).slice(0, length)
    const ended = this.lives.filter((life) => isOf(life, scope) && life.endDay.slice(0, length) === now)
    return sum(ended.map(({ charged }) => charged ?? 0))
  }

  /** What becomes of somebody who asks: the strictest that any limit says. */
  verdict({ cents, reservation, ...run }: Asked, nowMs: number): 'accepted' | 'approval' | 'refused' {
    const over = this.applied(run).filter(({ rule, scope }) => {
      const held = this.held(scope, nowMs, reservation)
      return (['day', 'month'] as const).some((period) => {
        const maximum = rule[period]
        return maximum !== null && held + this.settled(scope, period, nowMs) + cents > maximum
      })
    })
    if (over.some(({ rule }) => rule.action === 'block')) return 'refused'
    return over.some(({ rule }) => rule.action === 'require_approval') ? 'approval' : 'accepted'
  }

  /** How much more the limits let in; null where nothing limits it. */
  room({ reservation, ...run }: Omit<Asked, 'cents'>, nowMs: number): number | null {
    const rooms = this.applied(run).flatMap(({ rule, scope }) =>
      (['day', 'month'] as const).flatMap((period) => {
        const maximum = rule[period]
        const used = this.held(scope, nowMs, reservation) + this.settled(scope, period, nowMs)
        return maximum === null || rule.action === 'warn' ? [] : [maximum - used]
      }),
    )
    return rooms.length === 0 ? null : Math.max(0, Math.min(...rooms))
  }

  begin(life: Life, lease: Lease, nowMs: number): void {
    life.attempts.push({ fromMs: nowMs, toMs: null, reported: null })
    Object.assign(life, { status: 'RUNNING', lease })
  }

  /** The present attempt is over; what it said counts where it was told in time. */
  endAttempt(life: Life, nowMs: number, reported: number | null = null): void {
    Object.assign(life.attempts.at(-1)!, { toMs: nowMs, reported })
    life.lease = null
  }

  end(life: Life, status: Life['status'], nowMs: number): void {
    Object.assign(life, { status, lease: null, endDay: dayOf(nowMs) })
  }

  /** The estimate gives way to what was spent. */
  close(life: Life): void {
    const { status, onFailure, onCancel } = life
    const isReleased =
      (status === 'FAILED' && onFailure === 'release') || (status === 'CANCELLED' && onCancel === 'release')
    life.charged = isReleased ? 0 : spent(life)
  }

  /** By owner, model and day, '' for all of them, where there is anything. */
  days(): Map<string, number> {
    const found = new Map<string, number>()
    for (const { owner, model, endDay, charged } of this.lives) {
      if (!charged) continue
      for (const of of [owner, ''])
        for (const within of [model, '']) {
          const name = `${of} ${within} ${endDay}`
          found.set(name, (found.get(name) ?? 0) + charged)
        }
    }
    return found
  }
}

function spent({ attempts, centsPerSecond, cents }: Life): number {
  const said = attempts.filter(({ reported }) => reported !== null)
  const reported = sum(said.map((one) => one.reported!))
  if (centsPerSecond !== null) {
    const silent = attempts.filter((one) => one.reported === null)
    return reported + Math.round(centsPerSecond * sum(silent.map(({ fromMs, toMs }) => (toMs! - fromMs) / 1_000)))
  }
  if (said.length > 0) return reported
  return attempts.length > 0 ? cents : 0
}

function isOf({ owner, model }: { owner: string; model: string | null }, scope: Scope): boolean {
  return (scope.owner === null || owner === scope.owner) && (scope.model === null || model === scope.model)
}

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function sum(amounts: number[]): number {
  return amounts.reduce((all, amount) => all + amount, 0)
}
