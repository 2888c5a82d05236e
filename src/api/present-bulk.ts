/** How a bulk operation and its items look on the wire. */

import type { BulkItemObject, BulkObject } from '../contract/bulk.ts'
import type { BulkItem, BulkOperation } from '../store/ports/bulk.ts'

const NO_COUNTS: BulkObject['counts'] = {
  cancelled: 0,
  cancel_requested: 0,
  already_finished: 0,
  retried: 0,
  already_retrying: 0,
  refused: 0,
  not_found: 0,
}

export function presentBulk(operation: BulkOperation): BulkObject {
  const self = `/bulk/${operation.id}`
  const counts = { ...NO_COUNTS, ...operation.counts }
  return {
    operation_id: operation.id,
    action: operation.action,
    filter: operation.filter as Record<string, unknown>,
    state: operation.state,
    created_by: operation.createdBy,
    processed: Object.values(counts).reduce((sum, count) => sum + count, 0),
    counts,
    error: operation.error,
    cancel_requested_at: operation.cancelRequestedAt?.toISOString() ?? null,
    created_at: operation.createdAt.toISOString(),
    updated_at: operation.updatedAt.toISOString(),
    finished_at: operation.finishedAt?.toISOString() ?? null,
    links: { self, items: `${self}/items` },
  }
}

export function presentBulkItem(item: BulkItem & { at: Date }): BulkItemObject {
  return {
    run_id: item.runId,
    outcome: item.outcome,
    detail: item.detail,
    new_run_id: item.newRunId,
    at: item.at.toISOString(),
  }
}
