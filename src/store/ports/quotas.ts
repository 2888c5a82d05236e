/**
 * Quotas: the rules, what is used of them and by what.
 *
 * Usage is counted from live rows whenever it is asked for; there is no counter that could be wrong. A rule holds for every submit that
 * begins after `put` has answered, and counts what was submitted before it as well.
 */

import type { LimitName, QuotaAction, QuotaLimits, QuotaName, QuotaRule } from '../../run/quota.ts'
import type { Actor } from './audit.ts'

/** `countedAt`: since when everything that was there before the rule counts; null as long as that is not so. */
export type StoredRule = QuotaRule & { createdAt: Date; updatedAt: Date; countedAt: Date | null }

export type QuotaSources = {
  /** Of a number of runs. */
  runs: number | null
  reservations: number | null
  /** Of an amount: what runs that have not ended and reservations may cost, and what the others did cost. */
  held: number | null
  settled: number | null
}

/** One limit that applies, and how much of it is used. */
export type LimitUsage = { rule: QuotaRule; limit: LimitName; maximum: number; used: number; sources: QuotaSources }

/** Live runs that a rule is about and that are not counted. */
export type QuotaDrift = {
  owner: string
  model: string
  /** As admission counts them, and as the runs themselves say. */
  counted: number
  live: number
  /** Some of those that are live and not counted. */
  runIds: string[]
}

export type QuotaPage = { rules: StoredRule[]; nextCursor: string | null }

export interface Quotas {
  /** Makes or replaces the rule, and records in the same transaction that the actor did. `countedAt` is null when transactions that began before went on for too long; the janitor sees to it then. */
  put(name: QuotaName, limits: QuotaLimits, action: QuotaAction, actor?: Actor): Promise<StoredRule>
  get(name: QuotaName): Promise<StoredRule | null>
  /** By owner, model and together. `owner` null for all. */
  list(filter: { owner: string | null; limit: number; cursor: string | null }): Promise<QuotaPage>
  /** False when there is none; then nothing is recorded. */
  delete(name: QuotaName, actor?: Actor): Promise<boolean>
  /** Every limit that applies to this owner (and model, '' for none): its own, and those of everyone. `*` has only those of everyone together. */
  usage(scope: { owner: string; model: string }): Promise<LimitUsage[]>
  /** Recomputes what is active from the runs themselves. Empty when it is as counted. */
  check(): Promise<QuotaDrift[]>
  /** What a dead process left half done, rows that count no more; at most so many of each. Answers whether there may be more. */
  tidy(limit: number): Promise<boolean>
}
