/**
 * The settle of a batch in which every attempt succeeded, which nearly all batches are: the same guards and the same rows as in `settle.ts`,
 * without a word about failures. That makes it a third cheaper.
 */

import type pg from 'pg'
import { plainArray } from './array-literal.ts'
import type { Settlement } from './store.ts'
import { THIS_XID } from './this-xid.ts'

// All of them were settled as a rule; then their number says it.
const SETTLE_SUCCESSES = `
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[]) AS i(id, epoch, result_ref, result_hash, result_text)
), settled AS (
  UPDATE model_runs r SET status = 'SUCCEEDED', finished_at = clock(), lease_owner = NULL, lease_expires_at = NULL, deadline_at = NULL,
    result_ref = i.result_ref, result_hash = i.result_hash, event_seq = r.event_seq + 1
  FROM item i
  WHERE r.id = ANY (ARRAY[i.id]) AND r.lease_owner = $1 AND r.lease_epoch = i.epoch
  RETURNING r.id, r.attempt_count, r.event_seq, i.result_ref, i.result_text
), ended AS (
  UPDATE run_attempts a SET state = 'SUCCEEDED', finished_at = clock(), result_ref = s.result_ref
  FROM settled s WHERE a.run_id = ANY (ARRAY[s.id]) AND a.attempt = s.attempt_count
), stored AS (
  INSERT INTO run_results (run_id, attempt, result)
  SELECT id, attempt_count, result_text::json FROM settled WHERE result_text IS NOT NULL
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id, xid)
  SELECT id, event_seq, 'succeeded', clock(), 'SUCCEEDED', attempt_count, $1, ${THIS_XID} FROM settled
)
SELECT CASE WHEN count(*) < cardinality($2::uuid[]) THEN COALESCE(array_agg(id::text), '{}') END AS some FROM settled`

/** Of one worker, sorted by run id. */
export async function settleSuccesses(pool: pg.Pool, sorted: Settlement[]): Promise<(item: Settlement) => boolean> {
  const { rows } = await pool.query<{ some: string[] | null }>({
    name: 'settle_successes',
    text: SETTLE_SUCCESSES,
    values: [
      sorted[0]!.workerId,
      plainArray(sorted.map((item) => item.runId)),
      plainArray(sorted.map((item) => item.epoch)),
      sorted.map((item) => item.result!.ref),
      plainArray(sorted.map((item) => item.result!.hash)),
      sorted.map((item) => item.result!.text),
    ],
  })
  const { some } = rows[0]!
  if (some === null) return () => true
  const settled = new Set(some)
  return (item) => settled.has(item.runId)
}
