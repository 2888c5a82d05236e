/** Bulk operations as people see them: begin one, read it, list them, read what became of each run, ask one to stop. */

import type pg from 'pg'
import { Refusal } from '../run/errors.ts'
import { BULK_COLUMNS, type BulkRow, bulkOfRow } from './bulk-row.ts'
import { decodeCursor, encodeCursor } from './keyset-cursor.ts'
import type { Actor } from './ports/audit.ts'
import type { Bulk, BulkItem, BulkOperation, NewBulkOperation } from './ports/bulk.ts'

const CREATE = `
WITH created AS (
  INSERT INTO bulk_operations (id, action, filter, sees, created_by, idempotency_key, created_before, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, clock(), clock(), clock())
  ON CONFLICT (created_by, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
  RETURNING *
), audited AS (
  INSERT INTO audit_events (actor_token, actor_owner, action, target, data, request_id)
  SELECT $7::uuid, $8::text, 'bulk.' || action, id::text, jsonb_build_object('filter', filter), $9::text FROM created
)
SELECT ${BULK_COLUMNS} FROM created`

const BY_KEY = `
SELECT ${BULK_COLUMNS}, action = $3 AND filter = $4 AND sees IS NOT DISTINCT FROM $5 AS same
FROM bulk_operations WHERE created_by = $1 AND idempotency_key = $2`

const READ = `
SELECT ${BULK_COLUMNS} FROM bulk_operations WHERE id = $1 AND ($2::text IS NULL OR sees = $2)`

const LIST_ALL = `
SELECT ${BULK_COLUMNS} FROM bulk_operations WHERE $1::uuid IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`

const LIST_SEEN = `
SELECT ${BULK_COLUMNS} FROM bulk_operations WHERE sees = $3 AND ($1::uuid IS NULL OR id < $1) ORDER BY id DESC LIMIT $2`

const ITEM_COLUMNS = 'run_id, outcome, detail, new_run_id, at'

const ITEMS = `
SELECT ${ITEM_COLUMNS} FROM bulk_items
WHERE operation_id = $1 AND outcome IS NOT NULL AND ($2::uuid IS NULL OR run_id > $2) ORDER BY run_id LIMIT $3`

const ITEMS_OF_OUTCOME = `
SELECT ${ITEM_COLUMNS} FROM bulk_items
WHERE operation_id = $1 AND outcome = $4 AND ($2::uuid IS NULL OR run_id > $2) ORDER BY run_id LIMIT $3`

// Runs in hand may have been touched, so what became of them is recorded first.
const REQUEST_CANCEL = `
UPDATE bulk_operations SET
  cancel_requested_at = COALESCE(cancel_requested_at, clock()), updated_at = clock(),
  state = CASE WHEN lease_expires_at IS NULL THEN 'CANCELLED' ELSE state END,
  finished_at = CASE WHEN lease_expires_at IS NULL THEN clock() END
WHERE id = $1 AND state = 'RUNNING' AND ($2::text IS NULL OR sees = $2)`

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type ItemRow = {
  run_id: string
  outcome: BulkItem['outcome']
  detail: string | null
  new_run_id: string | null
  at: Date
}

export async function createBulkOperation(
  pool: pg.Pool,
  { id, action, filter, sees, createdBy, key }: NewBulkOperation,
  actor: Actor,
): Promise<{ operation: BulkOperation; idempotentHit: boolean }> {
  const filterText = JSON.stringify(filter)
  const by = [actor.tokenId, actor.owner, actor.requestId]
  const created = await pool.query<BulkRow>(CREATE, [id, action, filterText, sees, createdBy, key, ...by])
  if (created.rows[0]) return { operation: bulkOfRow(created.rows[0]), idempotentHit: false }
  // Operations are never deleted, so the one that holds the key is there; a new statement sees it.
  const known = await pool.query<BulkRow & { same: boolean }>(BY_KEY, [createdBy, key, action, filterText, sees])
  const row = known.rows[0]!
  if (row.same) return { operation: bulkOfRow(row), idempotentHit: true }
  const detail = `The idempotency key was used for the bulk operation ${row.id} with another action or filter.`
  throw new Refusal('idempotency-key-reused', detail, { extra: { operation_id: row.id } })
}

export async function readBulkOperation(pool: pg.Pool, id: string, sees: string | null): Promise<BulkOperation | null> {
  const { rows } = await pool.query<BulkRow>(READ, [id, sees])
  return rows[0] ? bulkOfRow(rows[0]) : null
}

export async function listBulkOperations(
  pool: pg.Pool,
  sees: string | null,
  { limit, cursor }: { limit: number; cursor: string | null },
): ReturnType<Bulk['list']> {
  const after = cursor === null ? null : decodeCursor(cursor, ID)
  const { rows } =
    sees === null
      ? await pool.query<BulkRow>(LIST_ALL, [after, limit + 1])
      : await pool.query<BulkRow>(LIST_SEEN, [after, limit + 1, sees])
  const operations = rows.slice(0, limit).map(bulkOfRow)
  return { operations, nextCursor: rows.length > limit ? encodeCursor(operations.at(-1)!.id) : null }
}

export async function listBulkItems(
  pool: pg.Pool,
  id: string,
  { outcome, limit, cursor }: Parameters<Bulk['items']>[1],
): ReturnType<Bulk['items']> {
  const after = cursor === null ? null : decodeCursor(cursor, ID)
  const { rows } =
    outcome === null
      ? await pool.query<ItemRow>(ITEMS, [id, after, limit + 1])
      : await pool.query<ItemRow>(ITEMS_OF_OUTCOME, [id, after, limit + 1, outcome])
  const items = rows.slice(0, limit).map((row) => ({
    runId: row.run_id,
    outcome: row.outcome,
    detail: row.detail,
    newRunId: row.new_run_id,
    at: row.at,
  }))
  return { items, nextCursor: rows.length > limit ? encodeCursor(items.at(-1)!.runId) : null }
}

export async function requestBulkCancel(pool: pg.Pool, id: string, sees: string | null): Promise<BulkOperation | null> {
  await pool.query(REQUEST_CANCEL, [id, sees])
  return readBulkOperation(pool, id, sees)
}
