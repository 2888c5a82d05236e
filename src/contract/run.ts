/**
 * A run on the wire. Every name is always there: what does not exist is null. Times are ISO 8601 in UTC.
 *
 * Values of sensitive names in `parameters`, `external_ref` and `progress` are replaced by a marker.
 */

import { z } from 'zod'
import type { CostState } from '../run/cost.ts'
import type { AttemptState, RunStatus } from '../run/status.ts'
import type { WaitingReason } from '../run/waiting.ts'

const RUN_STATUS = ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const satisfies RunStatus[]
const ATTEMPT_STATE = [
  'SUBMITTED',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'CANCELLED',
  'LOST',
  'RELEASED',
] as const satisfies AttemptState[]

const COST_STATE = ['HELD', 'SETTLED', 'RELEASED'] as const satisfies CostState[]

export const RunStatusName = z.enum(RUN_STATUS)

const time = z.iso.datetime()
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const error = z.strictObject({ class: z.string(), message: z.string(), stack: z.string().nullable() })

export const AttemptObject = z.strictObject({
  attempt: z.int().min(1),
  state: z.enum(ATTEMPT_STATE),
  worker_id: z.string(),
  executor: z.string(),
  submitted_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  error: error.nullable(),
  exit_code: z.int().nullable(),
  /** Where an engine has it, such as cluster and submission id. */
  external_ref: z.unknown(),
  progress: z.unknown(),
  /** What it used, where the executor measures it. */
  cpu_seconds: z.number().min(0).nullable(),
  peak_memory_bytes: z.int().min(0).nullable(),
  /** Not null when it printed something; see `GET /runs/{id}/logs`. */
  log_ref: z.string().nullable(),
})

const WAITING_REASON = [
  'approval',
  'scheduled',
  'backoff',
  'queue-paused',
  'no-worker',
  'concurrency',
  'queued',
] as const satisfies WaitingReason[]

/** Which names are not null depends on the reason. */
export const WaitingObject = z.strictObject({
  reason: z.enum(WAITING_REASON),
  /** The same in words. */
  detail: z.string(),
  /** Of `scheduled` and `backoff`: the run does not start before. */
  until: time.nullable(),
  /** Of `queued`: how many runs start before this one; there are more than that when `ahead_capped`. */
  ahead: z.int().min(0).nullable(),
  ahead_capped: z.boolean().nullable(),
  /** Of `concurrency`: how many runs may execute at once at the live workers, of what, and how many do. */
  limit: z.int().min(0).nullable(),
  limit_of: z.enum(['model', 'queue', 'key']).nullable(),
  held: z.int().min(0).nullable(),
  /** Of `concurrency`: up to ten of the runs that hold the limit, those that the caller may see. */
  held_by: z.array(z.guid()).nullable(),
  /** Of `no-worker`: what the live workers lack. */
  missing: z.enum(['queue', 'model', 'version']).nullable(),
  /** Of `no-worker`: the versions of the model that live workers of the queue offer. */
  offered_versions: z.array(z.string()).nullable(),
  /** Of `approval`, and of `concurrency` of a key: since when it has been waiting for this. */
  since: time.nullable(),
  /** Of `approval`: the rule that asks for it, with the limit it is over. Without a model it is about all of them. */
  rule: z
    .strictObject({
      owner: z.string(),
      model: z.string().nullable(),
      together: z.boolean(),
      limit: z.string(),
      maximum: z.number(),
      used: z.number(),
    })
    .nullable(),
  /** Of `concurrency` with `limit_of` `key`: the concurrency key. */
  key: z.string().nullable(),
})

/** A file among the parameters. */
export const RunFileObject = z.strictObject({
  /** A JSON pointer into the parameters. */
  parameter: z.string(),
  file_id: hash,
  name: z.string(),
  size: z.int().min(0),
  type: z.string(),
})

/** What a run of a model with a cost holds, or did cost. */
export const RunCostObject = z.strictObject({
  /** HELD until the run has ended, or up to a second longer; then SETTLED, or RELEASED when nothing was charged. */
  state: z.enum(COST_STATE),
  /** The estimate; it counts against limits of cost while HELD. */
  held: z.number().min(0),
  /** What was charged; 0 unless SETTLED. */
  settled: z.number().min(0),
  currency: z.string().nullable(),
})

export const RunObject = z.strictObject({
  run_id: z.guid(),
  model: z.string(),
  model_version: z.string(),
  status: RunStatusName,
  owner: z.string(),
  queue: z.string(),
  priority: z.int(),
  parameters: z.unknown(),
  payload_hash: hash,
  created_at: time,
  /** Null for a run that waits for approval or for a place of its concurrency key. */
  available_at: time.nullable(),
  started_at: time.nullable(),
  finished_at: time.nullable(),
  attempt_count: z.int(),
  max_attempts: z.int(),
  /** Null in lists, which do not load them. */
  attempts: z.array(AttemptObject).nullable(),
  last_error: z.strictObject({ class: z.string(), message: z.string(), attempt: z.int() }).nullable(),
  /** Null unless RUNNING. */
  lease: z.strictObject({ owner: z.string(), expires_at: time, epoch: z.int() }).nullable(),
  /** Why a PENDING run has not started; null otherwise. Lists say it of runs that wait for approval or for a concurrency key. */
  waiting: WaitingObject.nullable(),
  cancel_requested_at: time.nullable(),
  /** Since when the present attempt has been taking more than three times the expected duration; null otherwise. */
  overdue_since: time.nullable(),
  result_ref: z.string().nullable(),
  result_hash: hash.nullable(),
  batch_id: z.guid().nullable(),
  tags: z.array(z.string()),
  title: z.string().nullable(),
  /** The files among the parameters; null in lists, which do not load them. */
  files: z.array(RunFileObject).nullable(),
  /** Null for a run of a model without a cost, and in lists, which do not load it. */
  cost: RunCostObject.nullable(),
  retry_of: z.guid().nullable(),
  reproduces: z.guid().nullable(),
  links: z.strictObject({ self: z.string(), result: z.string(), events: z.string() }),
})

/** What `POST /runs` answers: the run, whether an earlier request had made it, and limits of its owner that are nearly used up. */
export const SubmitAnswer = RunObject.extend({
  idempotent_hit: z.boolean(),
  /** Of a new run, in words: each limit of runs that it uses to 80 % or more, or exceeds where the rule only warns. */
  quota_warnings: z.array(z.string()),
  /** The same of the limits of cost; null when none is near. */
  cost_limit_warning: z.string().nullable(),
})

export type AttemptObject = z.infer<typeof AttemptObject>
export type WaitingObject = z.infer<typeof WaitingObject>
export type RunFileObject = z.infer<typeof RunFileObject>
export type RunCostObject = z.infer<typeof RunCostObject>
export type RunObject = z.infer<typeof RunObject>
export type SubmitAnswer = z.infer<typeof SubmitAnswer>
