/**
 * How much is held and settled, for whatever limits are about: the rows not yet rolled up, at most 31 days, and reservations that may still be
 * used. One statement, hence one snapshot: an amount that is being rolled up is seen once.
 */

import type pg from 'pg'
import { roundAmount } from '../run/amount.ts'
import type { Counted } from '../run/quota.ts'

/** Amounts of one scope. `held` counts for the day and the month alike: it may be settled in either. */
export type CostUsage = { held: number; settledToday: number; settledThisMonth: number }

// The two halves of each union exclude each other: one owner is found by index, and only for everyone all open rows are read.
export const READ_COSTS = `
WITH today AS MATERIALIZED (
  SELECT (clock() AT TIME ZONE 'UTC')::date AS day, date_trunc('month', clock() AT TIME ZONE 'UTC')::date AS month
)
SELECT (COALESCE(l.held, 0) + COALESCE(v.held, 0))::float8 AS held,
  (COALESCE(l.today, 0) + COALESCE(d.today, 0))::float8 AS "settledToday",
  (COALESCE(l.month, 0) + COALESCE(d.month, 0))::float8 AS "settledThisMonth"
FROM today t
CROSS JOIN unnest($1::text[], $2::text[]) WITH ORDINALITY AS s(owner, model, no)
CROSS JOIN LATERAL (
  SELECT sum(o.held) FILTER (WHERE o.state = 'HELD') AS held, sum(o.settled) FILTER (WHERE o.day = t.day) AS today,
    sum(o.settled) FILTER (WHERE o.day >= t.month) AS month
  FROM (
    SELECT c.model, c.held, c.settled, c.state, c.day FROM cost_ledger c WHERE NOT c.rolled AND c.owner = s.owner
    UNION ALL
    SELECT c.model, c.held, c.settled, c.state, c.day FROM cost_ledger c WHERE NOT c.rolled AND s.owner IS NULL
  ) o WHERE s.model IS NULL OR o.model = s.model
) l
CROSS JOIN LATERAL (
  SELECT sum(c.amount) FILTER (WHERE c.day = t.day) AS today, sum(c.amount) AS month
  FROM cost_days c WHERE c.owner = COALESCE(s.owner, '') AND c.model = COALESCE(s.model, '') AND c.day >= t.month
) d
CROSS JOIN LATERAL (
  SELECT sum(round(o.cost::numeric, 6)) AS held
  FROM (
    SELECT r.model, r.cost FROM quota_reservations r WHERE r.state = 'ACTIVE' AND r.expires_at > clock() AND r.owner = s.owner
    UNION ALL
    SELECT r.model, r.cost FROM quota_reservations r WHERE r.state = 'ACTIVE' AND r.expires_at > clock() AND s.owner IS NULL
  ) o WHERE s.model IS NULL OR o.model = s.model
) v
ORDER BY s.no`

/** In the order of the scopes. */
export async function readCosts(db: pg.Pool | pg.ClientBase, scopes: readonly Counted[]): Promise<CostUsage[]> {
  if (scopes.length === 0) return []
  const { rows } = await db.query<CostUsage>({
    name: 'read_costs',
    text: READ_COSTS,
    values: [scopes.map(({ owner }) => owner), scopes.map(({ model }) => model)],
  })
  return rows.map(({ held, settledToday, settledThisMonth }) => ({
    held: roundAmount(held),
    settledToday: roundAmount(settledToday),
    settledThisMonth: roundAmount(settledThisMonth),
  }))
}
