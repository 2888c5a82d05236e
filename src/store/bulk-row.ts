/** How a row of bulk_operations becomes a BulkOperation. */

import type { BulkAction, BulkOperation, BulkState } from './ports/bulk.ts'

// The bound keeps its microseconds, which a Date would drop: a run of the same millisecond belongs to the operation or not.
export const BULK_COLUMNS = `id, action, filter, sees, created_by, state,
  to_char(created_before AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_before_text, counts, error,
  cancel_requested_at, created_at, updated_at, finished_at`

export type BulkRow = {
  id: string
  action: BulkAction
  filter: unknown
  sees: string | null
  created_by: string
  state: BulkState
  created_before_text: string
  counts: BulkOperation['counts']
  error: string | null
  cancel_requested_at: Date | null
  created_at: Date
  updated_at: Date
  finished_at: Date | null
}

export function bulkOfRow(row: BulkRow): BulkOperation {
  return {
    id: row.id,
    action: row.action,
    filter: row.filter,
    sees: row.sees,
    createdBy: row.created_by,
    state: row.state,
    createdBefore: row.created_before_text,
    counts: row.counts,
    error: row.error,
    cancelRequestedAt: row.cancel_requested_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    finishedAt: row.finished_at,
  }
}
