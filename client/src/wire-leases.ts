/** The protocol of remote workers as it travels. A test holds these shapes equal to those of the service. */

import type { RunStatus } from './wire.ts'

export type LeaseBody = {
  /** Names the worker to people, as `remote:<name>`; one per process. */
  worker: string
  /** `name@version`, or `name` for all registered versions. */
  models: string[]
  /** Those that the models name when not given. */
  queues?: string[] | null | undefined
  slots: number
  /** 30 by default, 60 at most. */
  wait_seconds?: number | null | undefined
  /** True: the worker says goodbye and gets nothing. */
  stopping?: boolean | null | undefined
  concurrency?: number | null | undefined
  host?: string | null | undefined
  pid?: number | null | undefined
  version?: string | null | undefined
}

/** A file among the parameters. */
export type LeaseFile = {
  /** A JSON pointer into the parameters. */
  parameter: string
  file_id: string
  name: string
  size: number
  type: string
  /** Where its bytes are, for the holder of the attempt token. */
  href: string
}

/** What the job of an engine gets for its ticket. */
export type StartedLease = {
  run_id: string
  attempt: number
  model: string
  model_version: string
  queue: string
  owner: string
  /** Whole, with the values of sensitive names. */
  parameters: unknown
  payload_hash: string
  seed: number
  max_attempts: number
  timeout_seconds: number
  files: LeaseFile[]
  /** What earlier attempts of the run committed, in order. */
  steps: DoneStep[]
  deadline: string
  /** A heartbeat is due every third of it. */
  lease_seconds: number
  lease_expires_at: string
}

export type DoneStep = { name: string; output: unknown }

export type StepBody = {
  name: string
  /** Any JSON; null when not given. */
  output?: unknown
  /** How often it was tried until it went well; 1 when not given. */
  tries?: number | null | undefined
  /** By the worker's own clock. */
  started_at?: string | null | undefined
  /** What it used, as far as that can be told apart. */
  cpu_seconds?: number | null | undefined
  peak_memory_bytes?: number | null | undefined
}

/** A step as it was kept, the same again when the request is repeated. */
export type CommittedStep = {
  name: string
  /** 1, 2, 3 … of the run, in the order of the commits. */
  no: number
  /** The attempt that committed it. */
  attempt: number
  started_at: string | null
  finished_at: string
  tries: number
  /** `inline`, or the reference of a large one in the artifact store. */
  output_ref: string
  /** SHA-256 of its canonical form. */
  output_hash: string
  output_bytes: number
}

export type Step = {
  name: string
  /** PENDING: the model has such a step and it has not begun, or is to begin again. WAITING: it failed and will be tried again where it stands. */
  state: 'PENDING' | 'RUNNING' | 'WAITING' | 'SUCCEEDED' | 'FAILED'
  tries: number
  started_at: string | null
  finished_at: string | null
  duration_seconds: number | null
  /** What it used, where that can be told apart from other work. */
  cpu_seconds: number | null
  peak_memory_bytes: number | null
  /** The attempt that did it, or does. */
  attempt: number | null
  /** 1, 2, 3 … of the run that did it, in the order of the commits; null while it is not done. */
  no: number | null
  /** The run it was taken over from; null when this run did it itself. */
  from_run_id: string | null
  /** With sensitive values hidden; null for one of more than 4 KiB, and for a map. */
  output: unknown
  /** `inline`, or the reference of a large one in the artifact store. */
  output_ref: string | null
  /** SHA-256 of its canonical form. */
  output_hash: string | null
  output_bytes: number | null
  /** Of the last try that failed, while the step is not done. */
  last_error: { class: string; message: string } | null
  /** Of a map: how many items are done, of how many as far as that is known. */
  items: { done: number; of: number | null } | null
}

export type Lease = StartedLease & {
  /** For the header `Holdfast-Attempt-Token`. */
  token: string
}

export type HeartbeatAnswer = {
  cancel_requested: boolean
  deadline: string
  lease_seconds: number
  lease_expires_at: string
}

export type LogPieces = { pieces: { stream: 'stdout' | 'stderr' | 'log'; text: string }[] }

export type FailBody = {
  error?:
    | {
        class: string
        message: string
        stack?: string | null | undefined
        retryable?: boolean | null | undefined
        retry_after_seconds?: number | null | undefined
        exit_code?: number | null | undefined
      }
    | null
    | undefined
  /** The work was stopped because that was asked for. */
  cancelled?: boolean | null | undefined
  /** What the attempt has cost, for runs of models with a cost. */
  cost?: number | null
}

/** How an attempt ended, the same again when the request is repeated. */
export type EndedAttempt = {
  run_id: string
  attempt: number
  /** `RUNNING`: an engine's attempt, which its worker is about to end. */
  state: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | 'RELEASED'
  run_status: RunStatus
}
