/**
 * The rules as admission reads them, and a short-lived copy of whom they are about.
 *
 * The copy only chooses the way: it is at most a second old while submits come, read in the background, so no submit waits for it. One that
 * is too old costs time and nothing else: the guard in the submit statement catches a rule it does not know, and admission finds no rule
 * where it knows one that is gone.
 */

import type pg from 'pg'
import { ALL_MODELS, EVERYONE, LIMITS, type QuotaLimits, type QuotaRule } from '../run/quota.ts'
import type { NewRun } from './store.ts'

export type RuleRow = QuotaLimits & Pick<QuotaRule, 'owner' | 'model' | 'together' | 'action'>

export const RULE_COLUMNS = `owner, model, together, ${LIMITS.join(', ')}, action`

const READ_RULES = `
SELECT ${RULE_COLUMNS} FROM quotas WHERE owner = ANY($1::text[]) AND model = ANY($2::text[])`

/** Beyond so many, everything goes through admission, which looks only for the rules it needs. */
const COPY_MAX = 1_000
const COPY_MS = 1_000

const READ_COPY = `SELECT owner, model FROM quotas LIMIT ${COPY_MAX + 1}`

export function ruleOfRow({ owner, model, together, action, ...row }: RuleRow): QuotaRule {
  const limits = Object.fromEntries(LIMITS.map((limit) => [limit, row[limit]])) as QuotaLimits
  return { owner, model, together, limits, action }
}

/** Those that may concern one of these. */
export async function readRules(
  db: Pick<pg.ClientBase, 'query'>,
  runs: readonly { owner: string; model: string }[],
): Promise<QuotaRule[]> {
  const owners = new Set([EVERYONE, ...runs.map(({ owner }) => owner)])
  const models = new Set([ALL_MODELS, ...runs.map(({ model }) => model)])
  const values = [[...owners], [...models]]
  const { rows } = await db.query<RuleRow>({ name: 'read_rules', text: READ_RULES, values })
  return rows.map(ruleOfRow)
}

export type RuleCopy = {
  /** Whether a rule is about it, as far as is known. */
  concern(run: Pick<NewRun, 'owner' | 'model'>): boolean
  refresh(): Promise<void>
}

export function createRuleCopy(pool: pg.Pool): RuleCopy {
  let modelsByOwner = new Map<string, Set<string>>()
  let isAboutAll = false
  let readAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | null = null

  async function read(): Promise<void> {
    readAtMs = performance.now()
    const { rows } = await pool.query<{ owner: string; model: string }>(READ_COPY)
    const models = new Map<string, Set<string>>()
    for (const { owner, model } of rows) models.set(owner, (models.get(owner) ?? new Set()).add(model))
    isAboutAll = rows.length > COPY_MAX
    modelsByOwner = models
  }

  /** A read that has begun may be of before the rule that somebody has just met, so it is waited for and then read again. */
  async function refresh(): Promise<void> {
    await reading
    await share()
  }

  function share(): Promise<void> {
    reading ??= read()
      .catch(() => {})
      .finally(() => {
        reading = null
      })
    return reading
  }

  const isAbout = (owner: string, model: string) => {
    const models = modelsByOwner.get(owner)
    return models !== undefined && (models.has(model) || models.has(ALL_MODELS))
  }

  return {
    refresh,
    concern({ owner, model }) {
      if (performance.now() - readAtMs > COPY_MS) void share()
      return isAboutAll || (modelsByOwner.size > 0 && (isAbout(owner, model) || isAbout(EVERYONE, model)))
    },
  }
}
