/** Models, queues and workers on the wire. Every name is always there: what does not exist is null. */

import { z } from 'zod'
import { AMOUNT_MAX } from '../run/amount.ts'
import {
  MODEL_NAME,
  MODEL_NAME_WANTED,
  MODEL_SECONDS_MAX,
  MODEL_VERSION,
  MODEL_VERSION_WANTED,
  PRIORITY_MAX,
  QUEUE_NAME,
  QUEUE_NAME_WANTED,
} from '../run/model-names.ts'
import { RETRY_DELAY_SECONDS_MAX } from '../run/retry.ts'
import { KEY_LENGTH_MAX, KEY_MODES, KEY_SCOPES, RUNS_PER_KEY_MAX } from '../run/runs-per-key.ts'
import { pageAnswer, pageQuery } from './page.ts'

const time = z.iso.datetime()
/** `actual`: what was spent is charged; `release`: nothing is. */
const CostPolicyName = z.enum(['actual', 'release'])
const count = z.int().min(0)

/** The retry policy that holds: the model's over the queue's over the global one. */
export const RetryObject = z.strictObject({
  max_attempts: z.int(),
  backoff: z.enum(['fixed', 'exponential', 'list']),
  base_delay_seconds: z.number(),
  max_delay_seconds: z.number(),
  factor: z.number(),
  delays_seconds: z.array(z.number()),
  jitter: z.number(),
  retry_on: z.array(z.string()).nullable(),
  no_retry_on: z.array(z.string()),
})

/** `key` is a JSON pointer into the parameters, or a text that is the key itself. */
export const RunsPerKeyObject = z.strictObject({
  key: z.string(),
  limit: z.int(),
  mode: z.enum(KEY_MODES),
  scope: z.enum(KEY_SCOPES),
})

/** `estimate` is a number or a CEL expression over `parameters`. */
export const CostObject = z.strictObject({
  estimate: z.union([z.number(), z.string()]),
  rate_per_second: z.number().nullable(),
  on_failure: CostPolicyName,
  on_cancel: CostPolicyName,
  currency: z.string().nullable(),
})

export const ModelObject = z.strictObject({
  name: z.string(),
  /** The version this object tells about: the newest unless another was asked for. */
  version: z.string(),
  description: z.string().nullable(),
  /** JSON Schema, draft 2020-12. */
  parameters_schema: z.record(z.string(), z.unknown()),
  ignore_in_hash: z.array(z.string()),
  volatile: z.array(z.string()),
  /** What its runs are found by: name → path into the result. */
  facets: z.record(z.string(), z.string()),
  /** Path to the places in its results; null for none. */
  places: z.string().nullable(),
  queue: z.string(),
  priority: z.int(),
  /** What runs it when a request does not say. */
  executor: z.string(),
  /** The executors a request may choose from, the usual one first. */
  executors: z.array(z.string()),
  /** The names of its steps in their order, where they are known before it runs. */
  steps: z.array(z.string()),
  retry: RetryObject,
  timeout_seconds: z.number().nullable(),
  expected_seconds: z.number().nullable(),
  /** At most this many runs at once in one worker process; null for no limit of its own. */
  concurrency: z.int().nullable(),
  /** At most so many active runs for each key, wherever they run; null for no such limit. */
  runs_per_key: RunsPerKeyObject.nullable(),
  /** What a run of it costs; null for nothing. */
  cost: CostObject.nullable(),
  registered_at: time,
  /** Whether a live worker offers this version now. */
  offered: z.boolean(),
  live_workers: count,
  /** The newest first. */
  versions: z.array(
    z.strictObject({ version: z.string(), registered_at: time, offered: z.boolean(), live_workers: count }),
  ),
})

export const QueueObject = z.strictObject({
  queue: z.string(),
  paused: z.boolean(),
  /** Waiting runs, also those that wait for a later time; there are more than that when `pending_capped`. */
  pending: count,
  pending_capped: z.boolean(),
  running: count,
  running_capped: z.boolean(),
  /** For how long the oldest run that could start has been waiting. */
  oldest_waiting_seconds: z.number().nullable(),
  live_workers: count,
  /** Whether claims rotate among the owners who wait in it. */
  fair_share: z.boolean(),
  /** With fair share: how many runs an owner gets for each run of an owner without a weight; owner → weight. */
  weights: z.record(z.string(), z.number()),
  /** Runs of this queue that its live workers can execute at once. */
  slots: count,
  /** The sum of its live workers' limits; null when one of them has none. */
  limit: count.nullable(),
  updated_at: time,
})

export const WorkerStateName = z.enum(['live', 'silent', 'stopped'])

export const WorkerObject = z.strictObject({
  worker_id: z.string(),
  /** `silent`: it has not been seen for two minutes and has not said that it stops. */
  state: WorkerStateName,
  host: z.string(),
  pid: z.int(),
  version: z.string(),
  queues: z.array(z.strictObject({ queue: z.string(), limit: z.int().nullable() })),
  models: z.array(z.strictObject({ model: z.string(), limit: z.int().nullable() })),
  concurrency: z.int(),
  running: count,
  started_at: time,
  last_seen_at: time,
  stopped_at: time.nullable(),
})

export const ModelParams = z.strictObject({ name: z.string().min(1).max(128).describe('The name of the model.') })
export const ModelQuery = z.strictObject({
  /** The newest registered one when not given. */
  version: z.string().min(1).max(64).optional(),
})
export const QueueParams = z.strictObject({ queue: z.string().min(1).max(128).describe('The name of the queue.') })

/** What is not given stays as it is. Weights are given all at once; an owner without one has 1. */
export const QueueBody = z.strictObject({
  fair_share: z.boolean().optional(),
  weights: z
    .record(z.string().min(1).max(255), z.number().min(0.01).max(1_000))
    .refine((weights) => Object.keys(weights).length <= 1_000, 'must have at most 1000 owners')
    .optional(),
})
export const WorkersQuery = z.strictObject({ ...pageQuery, state: WorkerStateName.optional() })

export const ModelVersionParams = ModelParams.extend({
  name: z.string().regex(MODEL_NAME, `must be ${MODEL_NAME_WANTED}`).describe('The name of the model.'),
  version: z.string().regex(MODEL_VERSION, `must be ${MODEL_VERSION_WANTED}`).describe('The version of the model.'),
})

const names = z.array(z.string().min(1).max(4_096)).max(1_000)
const delay = z.number().min(0).max(RETRY_DELAY_SECONDS_MAX)
const seconds = z.number().gt(0).max(MODEL_SECONDS_MAX)

/** What is not given is left to the queue's policy and the global one. */
export const RetryPolicyBody = z.strictObject({
  max_attempts: z.int().min(1).max(1_000).optional(),
  backoff: z.enum(['fixed', 'exponential', 'list']).optional(),
  base_delay_seconds: delay.optional(),
  max_delay_seconds: delay.optional(),
  factor: z.number().min(1).max(1_000).optional(),
  delays_seconds: z.array(delay).min(1).max(100).optional(),
  jitter: z.number().min(0).max(1).optional(),
  retry_on: names.nullable().optional(),
  no_retry_on: names.optional(),
})

export const RunsPerKeyBody = z.strictObject({
  key: z.string().min(1).max(KEY_LENGTH_MAX),
  limit: z.int().min(1).max(RUNS_PER_KEY_MAX).optional(),
  mode: z.enum(KEY_MODES).optional(),
  scope: z.enum(KEY_SCOPES).optional(),
})

export const CostBody = z.strictObject({
  /** A number, or a CEL expression over `parameters`; held when a run is submitted. */
  estimate: z.union([z.number().min(0).max(AMOUNT_MAX), z.string().min(1).max(1_000)]),
  /** What a second of an attempt costs that does not say itself what it cost. */
  rate_per_second: z.number().min(0).max(AMOUNT_MAX).nullish(),
  /** `release`: a run that failed costs nothing. `actual` when not given. */
  on_failure: CostPolicyName.nullish(),
  on_cancel: CostPolicyName.nullish(),
  /** For people; amounts of different currencies are not converted. */
  currency: z.string().min(1).max(16).nullish(),
})

/** What is not given has its default, also when an earlier registration gave it. */
export const ModelBody = z.strictObject({
  description: z.string().max(4_096).nullish(),
  /** JSON Schema, draft 2020-12, of an object. */
  parameters_schema: z.record(z.string(), z.unknown()),
  /** Parameters that do not make another input. */
  ignore_in_hash: names.nullish(),
  /** Parts of the result that may differ between equal runs; a dot reaches inside. */
  volatile: names.nullish(),
  /** What its runs are found by: name → path into the result; a dot reaches inside, arrays give several values. */
  facets: z.record(z.string().min(1).max(64), z.string().min(1).max(1_000)).nullish(),
  /** Path to the array of places in the result, each with `latitude`, `longitude` and maybe a `label`. */
  places: z.string().min(1).max(1_000).nullish(),
  queue: z.string().regex(QUEUE_NAME, `must be ${QUEUE_NAME_WANTED}`).nullish(),
  priority: z.int().min(-PRIORITY_MAX).max(PRIORITY_MAX).nullish(),
  retry: RetryPolicyBody.nullish(),
  timeout_seconds: seconds.nullish(),
  /** Three times this is the timeout when none is set. */
  expected_seconds: seconds.nullish(),
  /** At most this many runs at once in one worker. */
  concurrency: z.int().min(1).nullish(),
  /** At most so many active runs for each key, wherever they run. */
  runs_per_key: RunsPerKeyBody.nullish(),
  /** What a run of it costs. */
  cost: CostBody.nullish(),
})

export const ModelsAnswer = pageAnswer(ModelObject)
export const QueuesAnswer = pageAnswer(QueueObject)
export const WorkersAnswer = pageAnswer(WorkerObject)

export type RetryObject = z.infer<typeof RetryObject>
export type ModelObject = z.infer<typeof ModelObject>
export type ModelBody = z.infer<typeof ModelBody>
export type QueueBody = z.infer<typeof QueueBody>
export type QueueObject = z.infer<typeof QueueObject>
export type WorkerObject = z.infer<typeof WorkerObject>
