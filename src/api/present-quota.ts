/** Rules, their usage, reservations and warnings as they are answered. */

import type { QuotaName, QuotaObject, QuotaRuleObject, QuotaUsageObject } from '../contract/quota.ts'
import type { ReservationObject } from '../contract/reservation.ts'
import type { SubmitAnswer } from '../contract/run.ts'
import { ALL_MODELS, type QuotaName as NameOfRule, type QuotaLimits, type QuotaWarning } from '../run/quota.ts'
import { warningTexts } from '../run/quota-warning.ts'
import type { LimitUsage, StoredRule } from '../store/ports/quotas.ts'
import type { Reservation } from '../store/ports/reservations.ts'

const NO_LIMITS: QuotaLimits = {
  max_concurrent: null,
  runs_per_hour: null,
  runs_per_day: null,
  cost_per_day: null,
  cost_per_month: null,
}

export function presentRule(rule: StoredRule): QuotaRuleObject {
  return {
    ...presentName(rule),
    ...rule.limits,
    action: rule.action,
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
    counted_at: rule.countedAt?.toISOString() ?? null,
    links: { self: pathOf(rule) },
  }
}

/** `rule` is null when there is none of this name. */
export function presentQuota(name: NameOfRule, rule: StoredRule | null, usage: LimitUsage[]): QuotaObject {
  return {
    ...presentName(name),
    ...(rule?.limits ?? NO_LIMITS),
    action: rule?.action ?? null,
    usage: usage.map((one) => presentUsage(one, usage)),
  }
}

function presentUsage(one: LimitUsage, all: LimitUsage[]): QuotaUsageObject {
  const { rule, limit, maximum, used, sources } = one
  const tightest = all.filter((other) => other.limit === limit).sort((a, b) => roomOf(a) - roomOf(b))[0]
  return { rule: presentName(rule), limit, maximum, used, binds: tightest === one, action: rule.action, sources }
}

function roomOf({ maximum, used }: LimitUsage): number {
  return maximum - used
}

function presentName({ owner, model, together }: NameOfRule): QuotaName {
  return { owner, model: model === ALL_MODELS ? null : model, together }
}

function pathOf({ owner, model, together }: NameOfRule): string {
  const query = new URLSearchParams({
    ...(model !== ALL_MODELS && { model }),
    ...(together && { together: 'true' }),
  }).toString()
  return `/quotas/${encodeURIComponent(owner)}${query && `?${query}`}`
}

export function presentReservation(reservation: Reservation): ReservationObject {
  const { id, owner, model, state, cost, createdAt, expiresAt, endedAt, runId } = reservation
  return {
    reservation_id: id,
    owner,
    model,
    state,
    cost,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
    run_id: runId,
    links: { self: `/reservations/${id}`, run: runId && `/runs/${runId}` },
  }
}

export function presentWarnings(
  warnings: readonly QuotaWarning[] | undefined,
): Pick<SubmitAnswer, 'quota_warnings' | 'cost_limit_warning'> {
  const { quota, cost } = warningTexts(warnings)
  return { quota_warnings: quota, cost_limit_warning: cost }
}
