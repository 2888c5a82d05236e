/** Bulk operations, failures, statistics and views as they travel. A test holds these shapes equal to those of the service. */

import type { RunStatus } from './wire.ts'

/** A filter as answers show it: only what it asks for. */
export type ShownFilter = {
  status?: RunStatus[] | undefined
  not_status?: RunStatus[] | undefined
  model?: string[] | undefined
  not_model?: string[] | undefined
  model_version?: string[] | undefined
  not_model_version?: string[] | undefined
  owner?: string[] | undefined
  not_owner?: string[] | undefined
  queue?: string[] | undefined
  not_queue?: string[] | undefined
  tag?: string[] | undefined
  not_tag?: string[] | undefined
  batch_id?: string[] | undefined
  not_batch_id?: string[] | undefined
  error_class?: string[] | undefined
  not_error_class?: string[] | undefined
  created_after?: string | undefined
  created_before?: string | undefined
  text?: string | undefined
  not_text?: string | undefined
  facet?: string[] | undefined
  not_facet?: string[] | undefined
  near?: string | undefined
  bbox?: string | undefined
  overdue?: boolean | undefined
  waiting?: ('approval' | 'concurrency')[] | undefined
}

export type ListOrder = 'created_at_desc' | 'created_at_asc'

export type BulkAction = 'cancel' | 'retry'

export type BulkOutcome =
  | 'cancelled'
  | 'cancel_requested'
  | 'already_finished'
  | 'retried'
  | 'already_retrying'
  | 'refused'
  | 'not_found'

/** At least so many when `capped`. */
export type BulkCount = { count: number; capped: boolean }

export type BulkOperation = {
  operation_id: string
  action: BulkAction
  filter: Record<string, unknown>
  state: 'RUNNING' | 'DONE' | 'CANCELLED' | 'FAILED'
  created_by: string
  processed: number
  counts: Record<BulkOutcome, number>
  error: string | null
  cancel_requested_at: string | null
  created_at: string
  updated_at: string
  finished_at: string | null
  links: { self: string; items: string }
}

export type BulkItem = {
  run_id: string
  outcome: BulkOutcome
  detail: string | null
  new_run_id: string | null
  at: string
}

/** Failed runs of one model with one error class. */
export type FailureGroup = {
  model: string
  error_class: string
  count: number
  count_capped: boolean
  newest_at: string
  oldest_at: string
  example: { run_id: string; message: string }
  /** Lists exactly these runs, and is what a bulk retry takes. */
  filter: ShownFilter
}

export type StatsBucket = 'minute' | 'hour' | 'day'

export type StatsQuery = {
  from?: string | undefined
  to?: string | undefined
  bucket?: StatsBucket | undefined
  model?: string | undefined
  queue?: string | undefined
}

type Percentiles = { p50: number | null; p90: number | null; p99: number | null }

type Totals = {
  created: number
  started: number
  succeeded: number
  failed: number
  cancelled: number
  retried: number
  reclaimed: number
}

export type StatsCounts = Totals & {
  throughput_per_second: number
  failure_ratio: number | null
  queue_lag_seconds: Percentiles
  duration_seconds: Percentiles
}

export type Stats = {
  bucket: StatsBucket
  from: string
  to: string
  model: string | null
  queue: string | null
  since: string
  rolled_up_at: string
  data: (StatsCounts & { at: string })[]
  total: StatsCounts
  now: {
    pending: number
    pending_capped: boolean
    running: number
    running_capped: boolean
    oldest_waiting: { run_id: string; since: string; seconds: number } | null
  }
  all_time: Totals
}

export type View = {
  view_id: string
  owner: string
  name: string
  filter: ShownFilter
  order: ListOrder
  shared: boolean
  created_at: string
  updated_at: string
  links: { self: string }
}
