/** Expired idempotency keys and slots go, a bounded number at a time; a key stays as long as its run is not finished. */

import type pg from 'pg'

// The state of a run is asked for as a value: as a condition the planner would rather read all finished runs once. The rows
// to delete are locked, so they are found by their key alone.
const CLEAN = `
WITH gone AS MATERIALIZED (
  SELECT k.owner, k.kind, k.key FROM idempotency_keys k
  WHERE k.expires_at <= clock() AND (SELECT r.finished_at IS NOT NULL FROM model_runs r WHERE r.id = k.run_id)
  ORDER BY k.expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
DELETE FROM idempotency_keys k USING gone g WHERE k.owner = g.owner AND k.kind = g.kind AND k.key = g.key`

const CLEAN_SLOTS = `
WITH gone AS MATERIALIZED (
  SELECT owner, payload_hash FROM payload_slots WHERE expires_at <= clock() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
DELETE FROM payload_slots s USING gone g WHERE s.owner = g.owner AND s.payload_hash = g.payload_hash`

/** Of each at most `limit`; answers the larger number, so that a full one is asked for more. */
export async function deleteExpiredKeys(pool: pg.Pool, limit: number): Promise<number> {
  const keys = await pool.query({ name: 'clean_keys', text: CLEAN, values: [limit] })
  const slots = await pool.query({ name: 'clean_slots', text: CLEAN_SLOTS, values: [limit] })
  return Math.max(keys.rowCount ?? 0, slots.rowCount ?? 0)
}
