/** Expired idempotency keys and slots go, a bounded number at a time; a key stays as long as its run is not finished. */

import type pg from 'pg'

const CLEAN = `
WITH gone AS MATERIALIZED (
  SELECT k.owner, k.kind, k.key FROM idempotency_keys k
  WHERE k.expires_at <= clock()
    AND (k.kind = 'slot' OR EXISTS (SELECT FROM model_runs r WHERE r.id = k.run_id AND r.finished_at IS NOT NULL))
  ORDER BY k.expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
DELETE FROM idempotency_keys k USING gone g WHERE k.owner = g.owner AND k.kind = g.kind AND k.key = g.key AND k.expires_at <= clock()`

export async function deleteExpiredKeys(pool: pg.Pool, limit: number): Promise<number> {
  const { rowCount } = await pool.query({ name: 'clean_keys', text: CLEAN, values: [limit] })
  return rowCount ?? 0
}
