/** `POST /bulk` and what follows it: one cancel or retry of every run that a list filter matches. */

import { z } from 'zod'
import { pageAnswer, pageQuery } from './page.ts'
import { RunFilterJson } from './run-filter.ts'

/** A dry run does not count further, nor longer than a few seconds. */
export const BULK_COUNT_MAX = 10_000

const time = z.iso.datetime()
const ACTIONS = ['cancel', 'retry'] as const

/** What became of one run. */
export const BulkOutcomeName = z.enum([
  'cancelled',
  'cancel_requested',
  'already_finished',
  'retried',
  'already_retrying',
  'refused',
  'not_found',
])

export const BulkBody = z.strictObject({
  action: z.enum(ACTIONS),
  /**
   * At least one name. A cancel looks at PENDING and RUNNING runs only. A retry looks at FAILED runs unless `status` names
   * SUCCEEDED or CANCELLED.
   */
  filter: RunFilterJson,
  /** Only counts. */
  dry_run: z.boolean().nullish(),
})

export const BulkCancelBody = z.strictObject({})

export const BulkCount = z.strictObject({
  /** How many runs match now. */
  count: z.int().min(0),
  /** True when counting stopped before the end: there are at least so many. */
  capped: z.boolean(),
})

export const BulkObject = z.strictObject({
  operation_id: z.guid(),
  action: z.enum(ACTIONS),
  filter: z.record(z.string(), z.unknown()),
  state: z.enum(['RUNNING', 'DONE', 'CANCELLED', 'FAILED']),
  created_by: z.string(),
  /** Runs that were looked at so far; the sum of `counts`. */
  processed: z.int().min(0),
  counts: z.strictObject({
    cancelled: z.int(),
    cancel_requested: z.int(),
    already_finished: z.int(),
    retried: z.int(),
    already_retrying: z.int(),
    refused: z.int(),
    not_found: z.int(),
  }),
  /** Why it failed, or why it is repeating its current page. */
  error: z.string().nullable(),
  cancel_requested_at: time.nullable(),
  created_at: time,
  updated_at: time,
  finished_at: time.nullable(),
  links: z.strictObject({ self: z.string(), items: z.string() }),
})

export const BulkItemObject = z.strictObject({
  run_id: z.guid(),
  outcome: BulkOutcomeName,
  detail: z.string().nullable(),
  /** The retry, new or already active. */
  new_run_id: z.guid().nullable(),
  at: time,
})

export const BulkListAnswer = pageAnswer(BulkObject)
export const BulkItemsAnswer = pageAnswer(BulkItemObject)
export const BulkItemsQuery = z.strictObject({ ...pageQuery, outcome: BulkOutcomeName.optional() })

export type BulkBody = z.output<typeof BulkBody>
export type BulkCount = z.infer<typeof BulkCount>
export type BulkObject = z.infer<typeof BulkObject>
export type BulkItemObject = z.infer<typeof BulkItemObject>
