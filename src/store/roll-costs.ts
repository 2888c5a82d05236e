/**
 * Adds closed amounts to their days: of the owner and model, of the owner, of the model and of everyone.
 *
 * Marking and adding are one statement, so an amount is in exactly one of the two places admission reads, in whichever snapshot. Any number of
 * janitors may roll at once: rows that another is rolling are skipped, and days are locked in one order.
 */

import type pg from 'pg'

export const ROLL_COSTS = `
WITH picked AS MATERIALIZED (
  SELECT run_id FROM cost_ledger WHERE NOT rolled AND state <> 'HELD' ORDER BY run_id LIMIT $1 FOR UPDATE SKIP LOCKED
), marked AS (
  UPDATE cost_ledger l SET rolled = true FROM picked p WHERE l.run_id = ANY (ARRAY[p.run_id]) AND NOT l.rolled
  RETURNING l.owner, l.model, l.day, l.settled
), added AS (
  INSERT INTO cost_days AS d (owner, model, day, amount)
  SELECT o.owner, m.model, marked.day, sum(marked.settled)
  FROM marked
    CROSS JOIN LATERAL (VALUES (marked.owner), ('')) AS o(owner)
    CROSS JOIN LATERAL (VALUES (marked.model), ('')) AS m(model)
  WHERE marked.settled > 0
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (owner, model, day) DO UPDATE SET amount = d.amount + excluded.amount
)
SELECT count(*)::int AS count FROM marked`

export async function rollCosts(pool: pg.Pool, limit: number): Promise<number> {
  const asked = pool.query<{ count: number }>({ name: 'roll_costs', text: ROLL_COSTS, values: [limit] })
  return (await asked).rows[0]!.count
}
