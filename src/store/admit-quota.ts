/**
 * Quotas in admission: how many runs are active, and how many were created within an hour and a day. A run that a rule concerns leaves a
 * hold, from which the next one is counted.
 *
 * An ACTIVE reservation takes a place of every limit of runs. A run that consumes it takes that place over, so it is not judged again by what
 * the reservation was judged by: limits over all models, and, where the reservation names the model, those within it.
 */

import type pg from 'pg'
import { Refusal } from '../run/errors.ts'
import {
  type AppliedRule,
  type Binding,
  countedName,
  decide,
  type QuotaRule,
  RUN_LIMITS,
  type RunLimit,
  refusalText,
  rulesThatApply,
  type Usage,
} from '../run/quota.ts'
import type { AdmissionPart, AdmittedRun, Judge, Judged, Refused, Verdict } from './admit.ts'
import { type Counts, countUsage, type Wanted } from './count-usage.ts'
import { askedHolders, holdersOf } from './holders.ts'
import type { LimitUsage } from './ports/quotas.ts'
import type { NewRun } from './store.ts'
import { consumeReservations, type FoundReservation, findReservations } from './use-reservations.ts'

// A hold has the time of its run, so that a window counts it where the run is.
const WRITE_HOLDS = `
INSERT INTO quota_holds (run_id, owner, model, created_at)
SELECT r.id, r.owner, r.model, r.created_at FROM unnest($1::uuid[]) AS w(id) JOIN model_runs r ON r.id = w.id`

const ONE_MORE = { max_concurrent: 1, runs_per_hour: 1, runs_per_day: 1 }

export const quotaPart: AdmissionPart = {
  name: 'quota',
  concerns: (run) => run.reservationId !== undefined,
  locks: (run, rules) => [
    ...rulesThatApply(rules, run).map(({ counted }) => `quota ${countedName(counted)}`),
    ...(run.reservationId ? [`reservation ${run.reservationId}`] : []),
  ],
  read: readQuotas,
  usage,
}

async function readQuotas(client: pg.ClientBase, { runs, rules }: Judged): Promise<Judge | null> {
  const wanted = new Map<string, Wanted>()
  for (const run of runs) for (const applied of rulesThatApply(rules, run)) want(wanted, applied, 1)
  const ids = runs.flatMap(({ reservationId }) => reservationId ?? [])
  if (wanted.size === 0 && ids.length === 0) return null
  const counts = await countUsage(client, [...wanted.values()])
  const used = new Map([...wanted.keys()].map((name, index) => [name, usageOf(counts[index]!)]))
  const reservations = ids.length > 0 ? await findReservations(client, ids) : new Map<string, FoundReservation>()
  return new QuotaJudge(rules, used, reservations)
}

class QuotaJudge implements Judge {
  readonly #rules: readonly QuotaRule[]
  readonly #used: Map<string, Record<RunLimit, number>>
  readonly #reservations: Map<string, FoundReservation>
  readonly #bindings = new Map<NewRun, Binding>()

  constructor(
    rules: readonly QuotaRule[],
    used: Map<string, Record<RunLimit, number>>,
    reservations: Map<string, FoundReservation>,
  ) {
    this.#rules = rules
    this.#used = used
    this.#reservations = reservations
  }

  decide(run: NewRun): Verdict {
    const reservation = run.reservationId ? this.#reservations.get(run.reservationId) : undefined
    const refusal = run.reservationId ? unusable(run, reservation) : null
    if (refusal) return { refuse: refusal }
    const applied = rulesThatApply(this.#rules, run)
      .filter((one) => !isReserved(one, reservation))
      .map((one): AppliedRule & { usage: Usage } => ({ ...one, usage: this.#used.get(countedName(one.counted))! }))
    const decision = decide(applied, ONE_MORE)
    if (decision.kind === 'refuse') {
      this.#bindings.set(run, decision.binding)
      return { refuse: quotaRefusal(decision.binding) }
    }
    return {
      admit: true,
      warnings: decision.warnings,
      ...(decision.kind === 'approve' && { blocks: [{ reason: 'approval', detail: bindingFields(decision.binding) }] }),
      ...(reservation && { reservation }),
    }
  }

  take({ run, reservation }: AdmittedRun): void {
    if (reservation) this.#reservations.get(reservation.id)!.isActive = false
    for (const applied of rulesThatApply(this.#rules, run)) {
      const used = this.#used.get(countedName(applied.counted))!
      if (!isReserved(applied, reservation ?? undefined)) for (const limit of RUN_LIMITS) used[limit] += 1
    }
  }

  async write(client: pg.ClientBase, created: AdmittedRun[]): Promise<boolean> {
    const ruled = created.filter(({ run }) => rulesThatApply(this.#rules, run).length > 0)
    const values = [ruled.map(({ run }) => run.id)]
    if (ruled.length > 0) await client.query({ name: 'write_holds', text: WRITE_HOLDS, values })
    const consumed = created.flatMap(({ run, reservation }) =>
      reservation ? [{ id: reservation.id, runId: run.id }] : [],
    )
    return consumed.length === 0 || consumeReservations(client, consumed)
  }

  /** Who may not see everyone's runs is told only of those of the owner. */
  async explain(db: pg.Pool, refused: Refused[]): Promise<void> {
    const asked = refused.flatMap(({ run, refusal }) => {
      const binding = this.#bindings.get(run)
      if (binding?.limit !== 'max_concurrent') return []
      return [{ refusal, ...askedHolders(run, binding.counted) }]
    })
    if (asked.length === 0) return
    const holders = await holdersOf(db, asked)
    for (const [index, { refusal }] of asked.entries()) refusal.extra!.holders = holders[index]
  }
}

/** The place of the reservation is this one. */
function isReserved({ counted }: AppliedRule, reservation: { model: string | null } | undefined): boolean {
  return reservation !== undefined && (counted.model === null || reservation.model !== null)
}

function unusable(run: NewRun, reservation: FoundReservation | undefined): Refusal | null {
  if (!reservation || reservation.owner !== run.owner) {
    return new Refusal('reservation-not-found', `There is no reservation ${run.reservationId} of this owner.`)
  }
  const extra = { reservation_id: reservation.id, state: reservation.state }
  if (!reservation.isActive) {
    return new Refusal('reservation-not-active', `The reservation ${reservation.id} is not active any more.`, { extra })
  }
  if (reservation.model === null || reservation.model === run.model) return null
  const detail = `The reservation ${reservation.id} is for a run of the model ${reservation.model}.`
  return new Refusal('reservation-not-active', detail, { extra })
}

export function quotaRefusal(binding: Binding): Refusal {
  return new Refusal('quota-exceeded', refusalText(binding), { extra: { ...bindingFields(binding), holders: [] } })
}

/** As it is told. */
export function bindingFields({ rule, limit, maximum, used }: Binding): Record<string, unknown> {
  const { owner, model, together } = rule
  return { rule: { owner, model: model || null, together }, limit, maximum, used }
}

/** `spare`: counted this far beyond the maximum; null for to the end. */
function want(wanted: Map<string, Wanted>, { rule, counted }: AppliedRule, spare: number | null): void {
  const name = countedName(counted)
  const upTo = (maximum: number | null) => (maximum === null ? 0 : spare === null ? null : maximum + spare)
  wanted.set(name, {
    ...counted,
    active: upTo(rule.limits.max_concurrent),
    hour: upTo(rule.limits.runs_per_hour),
    day: upTo(rule.limits.runs_per_day),
  })
}

function usageOf({ active, hour, day, reservations }: Counts): Record<RunLimit, number> {
  return {
    max_concurrent: active + reservations,
    runs_per_hour: hour + reservations,
    runs_per_day: day + reservations,
  }
}

async function usage(
  db: pg.Pool,
  scope: { owner: string; model: string },
  rules: readonly QuotaRule[],
): Promise<LimitUsage[]> {
  const applied = rulesThatApply(rules, scope)
  const wanted = new Map<string, Wanted>()
  for (const one of applied) want(wanted, one, null)
  const counts = await countUsage(db, [...wanted.values()])
  return applied.flatMap(({ rule, counted }) => {
    const found = counts[[...wanted.keys()].indexOf(countedName(counted))]!
    const runs = { max_concurrent: found.active, runs_per_hour: found.hour, runs_per_day: found.day }
    return RUN_LIMITS.flatMap((limit) => {
      const maximum = rule.limits[limit]
      if (maximum === null) return []
      const sources = { runs: runs[limit], reservations: found.reservations, held: null, settled: null }
      return [{ rule, limit, maximum, used: runs[limit] + found.reservations, sources }]
    })
  })
}
