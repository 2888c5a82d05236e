/** Expired idempotency keys and slots go, a bounded number at a time; a key stays as long as its run is not finished. */

import type pg from 'pg'

// The state of a run is asked for as a value: as a condition the planner would rather read all finished runs once. The rows
// to delete are locked, so they are found by their key alone.
const CLEAN = `
WITH gone AS MATERIALIZED (
  SELECT k.owner, k.kind, k.key FROM idempotency_keys k
  WHERE k.expires_at <= clock()
    AND (k.kind = 'slot' OR (SELECT r.finished_at IS NOT NULL FROM model_runs r WHERE r.id = k.run_id))
  ORDER BY k.expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
DELETE FROM idempotency_keys k USING gone g WHERE k.owner = g.owner AND k.kind = g.kind AND k.key = g.key`

export async function deleteExpiredKeys(pool: pg.Pool, limit: number): Promise<number> {
  const { rowCount } = await pool.query({ name: 'clean_keys', text: CLEAN, values: [limit] })
  return rowCount ?? 0
}
