/**
 * The pages of a bulk operation: take the right to work on it, take the runs of the next page in hand, write what became of them.
 *
 * A holder that died leaves a lease and perhaps runs in hand behind; whoever takes the operation when the lease has expired finishes
 * those first. One that was only slow finds another epoch and writes nothing.
 */

import type pg from 'pg'
import { BULK_COLUMNS, type BulkRow, bulkOfRow } from './bulk-row.ts'
import type { Bulk, BulkPage, BulkState } from './ports/bulk.ts'

const TAKE = `
WITH next AS MATERIALIZED (
  SELECT id FROM bulk_operations
  WHERE state = 'RUNNING' AND (lease_expires_at IS NULL OR lease_expires_at <= clock())
  ORDER BY updated_at LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE bulk_operations o SET
  lease_epoch = o.lease_epoch + 1, lease_expires_at = clock() + $1::float8 * interval '1 millisecond', updated_at = clock()
FROM next WHERE o.id = next.id
RETURNING ${BULK_COLUMNS.replace(/\b(id|state)\b/g, 'o.$1')}, o.lease_epoch, o.cursor, o.exhausted,
  ARRAY(SELECT i.run_id FROM bulk_items i WHERE i.operation_id = o.id AND i.outcome IS NULL ORDER BY i.run_id) AS in_hand`

const HELD = `SELECT id FROM bulk_operations WHERE id = $1 AND lease_epoch = $2 AND state = 'RUNNING' FOR UPDATE`

const PLAN = `
WITH held AS MATERIALIZED (${HELD}), item AS (
  INSERT INTO bulk_items (operation_id, run_id) SELECT held.id, run_id FROM held CROSS JOIN unnest($3::uuid[]) AS run_id
  ON CONFLICT DO NOTHING
  RETURNING run_id
)
UPDATE bulk_operations o SET cursor = $4::text, exhausted = $4::text IS NULL
FROM held WHERE o.id = held.id
RETURNING ARRAY(SELECT run_id FROM item) AS run_ids`

const RECORD = `
WITH held AS MATERIALIZED (${HELD}), item AS (
  UPDATE bulk_items b SET outcome = i.outcome, detail = i.detail, new_run_id = i.new_run_id, at = clock()
  FROM held CROSS JOIN unnest($3::uuid[], $4::text[], $5::text[], $6::uuid[]) AS i(run_id, outcome, detail, new_run_id)
  WHERE b.operation_id = held.id AND b.run_id = i.run_id AND b.outcome IS NULL
  RETURNING b.outcome
), new_count AS (
  SELECT outcome, count(*) AS count FROM item GROUP BY outcome
)
UPDATE bulk_operations o SET
  error = NULL, lease_expires_at = NULL, updated_at = clock(),
  counts = o.counts || COALESCE((
    SELECT jsonb_object_agg(n.outcome, n.count + COALESCE((o.counts->>n.outcome)::bigint, 0)) FROM new_count n), '{}'),
  state = CASE WHEN o.exhausted THEN 'DONE' WHEN o.cancel_requested_at IS NOT NULL THEN 'CANCELLED' ELSE 'RUNNING' END,
  finished_at = CASE WHEN o.exhausted OR o.cancel_requested_at IS NOT NULL THEN clock() END
FROM held WHERE o.id = held.id
RETURNING o.state`

// Without runs in hand it ends here when it is to be cancelled; else those are finished first.
const PAUSE = `
UPDATE bulk_operations SET
  error = $3, updated_at = clock(), lease_expires_at = clock() + $4::float8 * interval '1 millisecond',
  state = CASE WHEN $4::float8 IS NULL AND cancel_requested_at IS NOT NULL THEN 'CANCELLED' ELSE state END,
  finished_at = CASE WHEN $4::float8 IS NULL AND cancel_requested_at IS NOT NULL THEN clock() END
WHERE id = $1 AND lease_epoch = $2 AND state = 'RUNNING'`

const FAIL = `
UPDATE bulk_operations SET
  error = $3, updated_at = clock(), finished_at = clock(), lease_expires_at = NULL, state = 'FAILED'
WHERE id = $1 AND lease_epoch = $2 AND state = 'RUNNING'`

type PageRow = BulkRow & { lease_epoch: number; cursor: string | null; exhausted: boolean; in_hand: string[] }

export async function takeBulkPage(pool: pg.Pool, { leaseMs }: { leaseMs: number }): Promise<BulkPage | null> {
  const row = (await pool.query<PageRow>(TAKE, [leaseMs])).rows[0]
  if (!row) return null
  const { lease_epoch: epoch, cursor, exhausted, in_hand: inHand } = row
  return { operation: bulkOfRow(row), epoch, cursor, exhausted, inHand }
}

export async function planBulkPage(
  pool: pg.Pool,
  { id, epoch, runIds, cursor }: Parameters<Bulk['plan']>[0],
): Promise<string[] | null> {
  const { rows } = await pool.query<{ run_ids: string[] }>(PLAN, [id, epoch, runIds, cursor])
  return rows[0]?.run_ids ?? null
}

export async function recordBulkPage(
  pool: pg.Pool,
  { id, epoch, items }: Parameters<Bulk['record']>[0],
): Promise<BulkState | null> {
  const { rows } = await pool.query<{ state: BulkState }>(RECORD, [
    id,
    epoch,
    items.map((item) => item.runId),
    items.map((item) => item.outcome),
    items.map((item) => item.detail),
    items.map((item) => item.newRunId),
  ])
  return rows[0]?.state ?? null
}

export async function pauseBulkPage(
  pool: pg.Pool,
  { id, epoch, error, repeatMs }: Parameters<Bulk['pause']>[0],
): Promise<void> {
  await pool.query(PAUSE, [id, epoch, error, repeatMs])
}

export async function failBulkOperation(
  pool: pg.Pool,
  { id, epoch, error }: Parameters<Bulk['fail']>[0],
): Promise<void> {
  await pool.query(FAIL, [id, epoch, error])
}
