/**
 * The port to bulk operations: one cancel or retry of everything that a filter matches, applied page by page by whoever holds its
 * lease. Between two pages nobody holds it.
 *
 * The runs of a page are written down before any of them is touched, and what became of them afterwards. A page whose holder died is
 * applied once more, by the same list, so applying must be repeatable.
 */

import type { Actor } from './audit.ts'

export type BulkAction = 'cancel' | 'retry'
export type BulkState = 'RUNNING' | 'DONE' | 'CANCELLED' | 'FAILED'

export type BulkOutcome =
  | 'cancelled'
  | 'cancel_requested'
  | 'already_finished'
  | 'retried'
  | 'already_retrying'
  | 'refused'
  | 'not_found'

export type BulkOperation = {
  id: string
  action: BulkAction
  /** As it was asked for. */
  filter: unknown
  /** Whose runs it may touch, and who may see it: null for everyone's. */
  sees: string | null
  createdBy: string
  state: BulkState
  /** ISO 8601 with microseconds: runs created then or later do not belong to it. */
  createdBefore: string
  counts: Partial<Record<BulkOutcome, number>>
  /** Why it failed, or why its current page is being repeated. */
  error: string | null
  cancelRequestedAt: Date | null
  createdAt: Date
  updatedAt: Date
  finishedAt: Date | null
}

export type NewBulkOperation = Pick<BulkOperation, 'id' | 'action' | 'filter' | 'sees' | 'createdBy'> & {
  /** The same key of the same creator leads to the same operation. */
  key: string | null
}

/** The right to work on an operation until the lease ends, fenced by `epoch`. */
export type BulkPage = {
  operation: BulkOperation
  epoch: number
  /** Where the filter goes on. */
  cursor: string | null
  exhausted: boolean
  /** Runs of a page that was begun and not finished. */
  inHand: string[]
}

export type BulkItem = { runId: string; outcome: BulkOutcome; detail: string | null; newRunId: string | null }

export interface Bulk {
  /** The audit has it from the same moment. */
  create(operation: NewBulkOperation, actor: Actor): Promise<{ operation: BulkOperation; idempotentHit: boolean }>
  read(id: string, sees: string | null): Promise<BulkOperation | null>
  /** Newest first. */
  list(
    sees: string | null,
    page: { limit: number; cursor: string | null },
  ): Promise<{ operations: BulkOperation[]; nextCursor: string | null }>
  /** In the order of run ids. */
  items(
    id: string,
    page: { outcome: BulkOutcome | null; limit: number; cursor: string | null },
  ): Promise<{ items: (BulkItem & { at: Date })[]; nextCursor: string | null }>
  /** Ends it at once when nobody works on it, else after the current page; a finished one stays as it is. */
  requestCancel(id: string, sees: string | null): Promise<BulkOperation | null>
  /** The operation that has waited longest, or null when there is nothing to do. */
  take(options: { leaseMs: number }): Promise<BulkPage | null>
  /**
   * Takes the runs of the next page in hand and moves the cursor; `cursor` null: there is nothing left. Answers those that the
   * operation had not met before, or null when the lease was lost: then nothing was written.
   */
  plan(page: { id: string; epoch: number; runIds: string[]; cursor: string | null }): Promise<string[] | null>
  /** Writes what became of the runs in hand and gives the lease back. Answers the state it leaves, null when the lease was lost. */
  record(page: { id: string; epoch: number; items: BulkItem[] }): Promise<BulkState | null>
  /** Gives the lease back after `error`; with runs in hand only after `repeatMs`, so that they are finished before all else. */
  pause(page: { id: string; epoch: number; error: string; repeatMs: number | null }): Promise<void>
  /** Ends it FAILED. */
  fail(page: { id: string; epoch: number; error: string }): Promise<void>
}
