/**
 * The protocol of remote workers on the wire: asking for work, and what is said about an attempt while it runs and when
 * it ends. Parameters are whole here, with the values of sensitive names: the work needs them.
 */

import { z } from 'zod'
import { AMOUNT_MAX } from '../run/amount.ts'
import { QUEUE_NAME, QUEUE_NAME_WANTED } from '../run/model-names.ts'
import type { AttemptState } from '../run/status.ts'
import { RunFileObject, RunStatusName } from './run.ts'
import { DoneStepObject } from './step.ts'

export const LEASE_SLOTS_MAX = 1_000
export const LEASE_WAIT_SECONDS_MAX = 60
export const LEASE_MODELS_MAX = 500
export const LOG_PIECES_MAX = 10_000

/** A year. */
const RETRY_AFTER_SECONDS_MAX = 365 * 24 * 3600

const ENDED_STATE = ['RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'RELEASED'] as const satisfies AttemptState[]

const time = z.iso.datetime()
const queue = z.string().regex(QUEUE_NAME, `must be ${QUEUE_NAME_WANTED}`)

export const LeaseBody = z.strictObject({
  /** Names the worker to people, as `remote:<name>`; one per process, such as host and process id. */
  worker: z
    .string()
    .min(1)
    .max(128)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .meta({ examples: ['gpu-7:4121'] }),
  /** `name@version`, or `name` for all registered versions. */
  models: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(LEASE_MODELS_MAX)
    .meta({ examples: [['monte_carlo']] }),
  /** Those that the models name when not given, as far as the token may take from them. */
  queues: z.array(queue).min(1).max(100).nullish(),
  /** As many runs at most. */
  slots: z.int().min(1).max(LEASE_SLOTS_MAX),
  /** How long to wait for work; as the header `Prefer: wait=N`, which is looked at when this is not given. 30 by default. */
  wait_seconds: z.number().min(0).max(LEASE_WAIT_SECONDS_MAX).nullish(),
  /** True: the worker says goodbye. It gets nothing and is shown as stopped. */
  stopping: z.boolean().nullish(),
  /** How many runs the worker executes at once, for people; `slots` when not given. */
  concurrency: z.int().min(1).max(1_000_000).nullish(),
  /** Where the worker runs and as what, for people. */
  host: z.string().min(1).max(255).nullish(),
  pid: z.int().min(0).max(2_147_483_647).nullish(),
  version: z.string().min(1).max(64).nullish(),
})

/** A file among the parameters of a leased run. */
export const LeaseFileObject = RunFileObject.extend({
  /** Where its bytes are, for the holder of the attempt token. */
  href: z.string(),
})

const leased = {
  run_id: z.guid(),
  attempt: z.int().min(1),
  model: z.string(),
  model_version: z.string(),
  queue: z.string(),
  owner: z.string(),
  parameters: z.unknown(),
  payload_hash: z.string(),
  seed: z.int(),
  max_attempts: z.int().min(1),
  timeout_seconds: z.number(),
  /** The files among the parameters. */
  files: z.array(LeaseFileObject),
  /** Steps that earlier attempts committed, in their order, with their outputs: these need not be done again. */
  steps: z.array(DoneStepObject),
  /** The attempt must have ended by then: the lease is not renewed much past it. */
  deadline: time,
  /** A heartbeat is due every third of it. */
  lease_seconds: z.number(),
  lease_expires_at: time,
}

export const LeaseObject = z.strictObject({
  ...leased,
  /** For the header `Holdfast-Attempt-Token` of everything said about this attempt. */
  token: z.string(),
})

export const LeaseAnswer = z.strictObject({ data: z.array(LeaseObject) })

export const StartBody = z.strictObject({
  /** SHA-256, in hex, of the attempt token that the job made for itself: `hfa_` and 43 characters of base 64 for URLs. */
  token_hash: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits in lower case'),
})

/** As a lease; its token is known to the job alone. */
export const StartedObject = z.strictObject(leased)

export const HeartbeatBody = z.strictObject({ progress: z.unknown().optional() })

export const HeartbeatAnswer = z.strictObject({
  /** True: stop the work, then say `fail` with `cancelled`. */
  cancel_requested: z.boolean(),
  deadline: time,
  lease_seconds: z.number(),
  lease_expires_at: time,
})

export const ProgressBody = z.strictObject({ progress: z.unknown() })

export const LogsBody = z.strictObject({
  pieces: z
    .array(z.strictObject({ stream: z.enum(['stdout', 'stderr', 'log']), text: z.string() }))
    .min(1)
    .max(LOG_PIECES_MAX),
})

export const NotedAnswer = z.strictObject({ cancel_requested: z.boolean() })

const cost = z.number().min(0).max(AMOUNT_MAX).nullish()

export const CompleteBody = z.strictObject({
  /** Any JSON; null when not given. */
  result: z.unknown().optional(),
  /** What the attempt has cost, for runs of models with a cost; without it, its time at the model's rate or else the estimate. */
  cost,
})

export const FailBody = z.strictObject({
  error: z
    .strictObject({
      /** What retry policies name, such as `ValueError` or `package.module.ValueError`. */
      class: z.string().min(1),
      message: z.string(),
      stack: z.string().nullish(),
      /** False: never retried. True: retried unless the policy forbids it. Without it the policy decides. */
      retryable: z.boolean().nullish(),
      /** In place of the policy's delay. */
      retry_after_seconds: z.number().min(0).max(RETRY_AFTER_SECONDS_MAX).nullish(),
      exit_code: z.int().min(-2_147_483_648).max(2_147_483_647).nullish(),
    })
    .nullish(),
  /** True: the work was stopped because that was asked for. Then no error is needed. */
  cancelled: z.boolean().nullish(),
  /** As with `complete`. */
  cost,
})

export const ReleaseBody = z.strictObject({})

/** How the attempt ended, the same again when the request is repeated. */
export const EndedObject = z.strictObject({
  run_id: z.guid(),
  attempt: z.int().min(1),
  /** `RUNNING`: an engine's attempt, which its worker is about to end as was said. */
  state: z.enum(ENDED_STATE),
  /** Of the run after it; `PENDING` when another attempt follows. */
  run_status: RunStatusName,
})

export type LeaseBody = z.infer<typeof LeaseBody>
export type LeaseFileObject = z.infer<typeof LeaseFileObject>
export type LeaseObject = z.infer<typeof LeaseObject>
export type LeaseAnswer = z.infer<typeof LeaseAnswer>
export type StartBody = z.infer<typeof StartBody>
export type StartedObject = z.infer<typeof StartedObject>
export type HeartbeatBody = z.infer<typeof HeartbeatBody>
export type HeartbeatAnswer = z.infer<typeof HeartbeatAnswer>
export type ProgressBody = z.infer<typeof ProgressBody>
export type LogsBody = z.infer<typeof LogsBody>
export type NotedAnswer = z.infer<typeof NotedAnswer>
export type CompleteBody = z.infer<typeof CompleteBody>
export type FailBody = z.infer<typeof FailBody>
export type ReleaseBody = z.infer<typeof ReleaseBody>
export type EndedObject = z.infer<typeof EndedObject>
