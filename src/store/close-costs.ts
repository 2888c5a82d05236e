/**
 * How a row of the cost ledger is closed: the amount held is replaced by what the run did cost, or by nothing where the model's policy says so.
 *
 * A run that is settled is closed by its settle, in the one statement (`settleCost`). What ends in another way (reclaim, cancel) is found by
 * `closeEnded`, which a guard on the state keeps to one closing however many janitors look at once.
 */

import type pg from 'pg'

// `l` is the row; `status` that of its run, `reported` what the attempt that ends says it cost, null for nothing.
const closing = ({ status, reported, attempt, endedAt }: Record<string, string>) => `
  (reported, reported_attempts, state, settled, closed_at, day) = (
    SELECT n.reported, n.attempts, n.state,
      CASE n.state WHEN 'SETTLED' THEN cost_spent(l.run_id, l.held, l.rate_per_second, n.reported, n.attempts) ELSE 0 END,
      CASE n.state WHEN 'HELD' THEN NULL ELSE clock() END,
      CASE n.state WHEN 'HELD' THEN NULL ELSE (${endedAt} AT TIME ZONE 'UTC')::date END
    FROM (
      SELECT l.reported + COALESCE(${reported}, 0) AS reported,
        CASE WHEN ${reported} IS NULL THEN l.reported_attempts ELSE l.reported_attempts || ${attempt} END AS attempts,
        CASE ${status}::text WHEN 'SUCCEEDED' THEN 'SETTLED'
          WHEN 'FAILED' THEN CASE l.on_failure WHEN 'release' THEN 'RELEASED' ELSE 'SETTLED' END
          WHEN 'CANCELLED' THEN CASE WHEN l.on_cancel = 'release' OR NOT EXISTS (
            SELECT FROM run_attempts a WHERE a.run_id = ANY (ARRAY[l.run_id])) THEN 'RELEASED' ELSE 'SETTLED' END
          ELSE 'HELD' END AS state
    ) n)`

/**
 * A part of a settle statement, whose rows `settled` have `id`, `attempt_count` and `cost`. The snapshot shows the attempt as it was before it ended, so
 * its time is counted until now. An attempt after which the run goes on only notes what it cost.
 */
export const settleCost = (status: string) => `, costed AS (
  UPDATE cost_ledger l SET ${closing({ status, reported: 's.cost', attempt: 's.attempt_count', endedAt: 'clock()' })}
  FROM settled s WHERE l.run_id = ANY (ARRAY[s.id]) AND l.state = 'HELD'
)`

// A run that is gone cannot say any more what became of it: what it held stays charged.
export const CLOSE_ENDED = `
WITH ended AS MATERIALIZED (
  SELECT l.run_id, r.status, r.finished_at
  FROM cost_ledger l LEFT JOIN LATERAL (
    SELECT m.status, m.finished_at FROM model_runs m WHERE m.id = ANY (ARRAY[l.run_id])) r ON true
  WHERE NOT l.rolled AND l.state = 'HELD' AND (r.status IS NULL OR r.finished_at IS NOT NULL)
  LIMIT $1 FOR UPDATE OF l SKIP LOCKED
), gone AS (
  UPDATE cost_ledger l SET state = 'SETTLED', settled = l.held, closed_at = clock(), day = (clock() AT TIME ZONE 'UTC')::date
  FROM ended e WHERE e.status IS NULL AND l.run_id = ANY (ARRAY[e.run_id]) AND l.state = 'HELD'
  RETURNING l.run_id
), closed AS (
  UPDATE cost_ledger l SET ${closing({ status: 'e.status', reported: 'NULL::numeric', attempt: '0', endedAt: 'e.finished_at' })}
  FROM ended e WHERE e.status IS NOT NULL AND l.run_id = ANY (ARRAY[e.run_id]) AND l.state = 'HELD'
  RETURNING l.run_id
)
SELECT (SELECT count(*) FROM gone)::int + (SELECT count(*) FROM closed)::int AS count`

export async function closeEnded(pool: pg.Pool, limit: number): Promise<number> {
  const asked = pool.query<{ count: number }>({ name: 'close_ended_costs', text: CLOSE_ENDED, values: [limit] })
  return (await asked).rows[0]!.count
}
