/** The verbs of quotas, bound to their pools. */

import type pg from 'pg'
import { EVERYONE, LIMITS, type QuotaName, rulesThatApply, ruleTitle } from '../run/quota.ts'
import type { AdmissionPart } from './admit.ts'
import { checkHolds } from './check-holds.ts'
import { continueCounting, countRule } from './count-rule.ts'
import { foreignCursor } from './name-cursor.ts'
import type { Actor } from './ports/audit.ts'
import type { Quotas, StoredRule } from './ports/quotas.ts'
import { RULE_COLUMNS, type RuleRow, readRules, ruleOfRow } from './quota-rules.ts'
import { createTidyHolds } from './tidy-holds.ts'

type Answered = <T>(asked: Promise<T>) => Promise<T>

const COLUMNS = `${RULE_COLUMNS}, created_at, updated_at, counted_at`

// Who did it, in the statement that does it. $4: the title of the rule, $5: whether to record, then token, owner and request.
const audited = (action: string, data: string) => `
INSERT INTO audit_events (actor_token, actor_owner, action, target, data, request_id)
SELECT $6, $7, '${action}', $4, ${data}, $8 FROM done WHERE $5::boolean`

// What was there before the rule has to be counted anew, whatever the rule said until now.
const PUT = `
WITH done AS (INSERT INTO quotas (owner, model, together, action, ${LIMITS.join(', ')}, created_at, updated_at)
VALUES ($1, $2, $3, $9, $10, $11, $12, $13, $14, clock(), clock())
ON CONFLICT (owner, model, together) DO UPDATE SET action = excluded.action,
  ${LIMITS.map((limit) => `${limit} = excluded.${limit}`).join(', ')},
  updated_at = excluded.updated_at, counted_at = NULL, awaits = NULL
RETURNING ${LIMITS.join(', ')}, action)
${audited('quota.put', 'to_jsonb(done)')}`

const BY_NAME = 'owner = $1 AND model = $2 AND together = $3'
const GET = `SELECT ${COLUMNS} FROM quotas WHERE ${BY_NAME}`
const DELETE = `
WITH done AS (DELETE FROM quotas WHERE ${BY_NAME} RETURNING owner), recorded AS (${audited('quota.delete', "'{}'")})
SELECT FROM done`

const LIST = `
SELECT ${COLUMNS} FROM quotas
WHERE ($1::text IS NULL OR owner = $1) AND ($2::text IS NULL OR (owner, model, together) > ($2, $3, $4::boolean))
ORDER BY owner, model, together LIMIT $5`

type StoredRow = RuleRow & { created_at: Date; updated_at: Date; counted_at: Date | null }

export function createQuotas(
  { reads, work, parts }: { reads: pg.Pool; work: pg.Pool; parts: readonly AdmissionPart[] },
  answered: Answered,
): Quotas {
  const tidyHolds = createTidyHolds(work)

  async function get(name: QuotaName): Promise<StoredRule | null> {
    const { rows } = await answered(reads.query<StoredRow>(GET, valuesOf(name)))
    return rows[0] ? storedOfRow(rows[0]) : null
  }

  return {
    get,
    async put(name, limits, action, actor) {
      const values = [...valuesOf(name), ...auditValues(name, actor), action, ...LIMITS.map((limit) => limits[limit])]
      await answered(reads.query(PUT, values))
      await answered(countRule(reads, name))
      const stored = await get(name)
      // Deleted by somebody else at this moment: as it was.
      const at = new Date()
      return stored ?? { ...name, limits, action, createdAt: at, updatedAt: at, countedAt: null }
    },
    async list({ owner, limit, cursor }) {
      const after = cursor === null ? [null, null, null] : valuesOf(nameOfCursor(cursor))
      const { rows } = await answered(reads.query<StoredRow>(LIST, [owner, ...after, limit + 1]))
      const rules = rows.slice(0, limit).map(storedOfRow)
      return { rules, nextCursor: rows.length > limit ? cursorOfName(rules.at(-1)!) : null }
    },
    async delete(name, actor) {
      const values = [...valuesOf(name), ...auditValues(name, actor)]
      return (await answered(reads.query(DELETE, values))).rowCount === 1
    },
    async usage(scope) {
      const all = await answered(readRules(reads, [scope]))
      // Of everyone, each owner has a usage of its own, which nobody has asked for.
      const rules = scope.owner === EVERYONE ? all.filter(({ together }) => together) : all
      if (rulesThatApply(rules, scope).length === 0) return []
      const usages = parts.map((part) => part.usage?.(work, scope, rules) ?? [])
      return (await answered(Promise.all(usages))).flat()
    },
    check: () => answered(checkHolds(reads)),
    async tidy(limit) {
      await continueCounting(reads)
      return tidyHolds(limit)
    },
  }
}

function storedOfRow({
  created_at: createdAt,
  updated_at: updatedAt,
  counted_at: countedAt,
  ...row
}: StoredRow): StoredRule {
  return { ...ruleOfRow(row), createdAt, updatedAt, countedAt }
}

function valuesOf({ owner, model, together }: QuotaName): unknown[] {
  return [owner, model, together]
}

function auditValues(name: QuotaName, actor: Actor | undefined): unknown[] {
  return [ruleTitle(name), actor !== undefined, actor?.tokenId ?? null, actor?.owner ?? null, actor?.requestId ?? null]
}

function cursorOfName({ owner, model, together }: QuotaName): string {
  return Buffer.from(JSON.stringify([owner, model, together])).toString('base64url')
}

function nameOfCursor(cursor: string): QuotaName {
  let given: unknown
  try {
    given = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    throw foreignCursor()
  }
  const isText = (value: unknown) => typeof value === 'string' && !value.includes('\u0000') && value.isWellFormed()
  if (!Array.isArray(given) || given.length !== 3 || !isText(given[0]) || !isText(given[1])) throw foreignCursor()
  return { owner: given[0], model: given[1], together: given[2] === true }
}
