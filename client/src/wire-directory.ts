/** Models, queues and workers as they travel. A test holds these shapes equal to those of the service. */

export type RetryPolicy = {
  max_attempts: number
  backoff: 'fixed' | 'exponential' | 'list'
  base_delay_seconds: number
  max_delay_seconds: number
  factor: number
  delays_seconds: number[]
  jitter: number
  retry_on: string[] | null
  no_retry_on: string[]
}

/** `key` is a JSON pointer into the parameters, or a text that is the key itself. */
export type RunsPerKey = {
  key: string
  limit: number
  mode: 'queue' | 'refuse' | 'cancel_older'
  scope: 'owner' | 'everyone'
}

export type RunsPerKeyBody = {
  key: string
  limit?: number
  mode?: RunsPerKey['mode']
  scope?: RunsPerKey['scope']
}

/** `estimate` is a number or a CEL expression over `parameters`. */
export type ModelCost = {
  estimate: number | string
  rate_per_second: number | null
  on_failure: 'actual' | 'release'
  on_cancel: 'actual' | 'release'
  currency: string | null
}

/** What is not given has its default: no rate, `actual`. */
export type CostBody = {
  estimate: number | string
  rate_per_second?: number | null
  on_failure?: 'actual' | 'release' | null
  on_cancel?: 'actual' | 'release' | null
  currency?: string | null
}

export type ModelInfo = {
  name: string
  /** The version this tells about: the newest unless another was asked for. */
  version: string
  description: string | null
  /** JSON Schema, draft 2020-12. */
  parameters_schema: Record<string, unknown>
  ignore_in_hash: string[]
  volatile: string[]
  /** What its runs are found by: name → path into the result. */
  facets: Record<string, string>
  /** Path to the places in its results; null for none. */
  places: string | null
  queue: string
  priority: number
  /** What runs it when a request does not say. */
  executor: string
  /** The executors a request may choose from, the usual one first. */
  executors: string[]
  /** The names of its steps in their order, where they are known before it runs. */
  steps: string[]
  retry: RetryPolicy
  timeout_seconds: number | null
  expected_seconds: number | null
  concurrency: number | null
  /** At most so many active runs for each key, wherever they run. */
  runs_per_key: RunsPerKey | null
  /** What a run of it costs; null for nothing. */
  cost: ModelCost | null
  registered_at: string
  /** Whether a live worker offers this version now. */
  offered: boolean
  live_workers: number
  /** The newest first. */
  versions: { version: string; registered_at: string; offered: boolean; live_workers: number }[]
}

/** What is not given is left to the queue's policy and the global one. */
export type RetryPolicyBody = Partial<RetryPolicy>

/** A model for remote workers. What is not given has its default, also when an earlier registration gave it. */
export type ModelBody = {
  description?: string | null
  /** JSON Schema, draft 2020-12, of an object. */
  parameters_schema: Record<string, unknown>
  ignore_in_hash?: string[] | null
  volatile?: string[] | null
  facets?: Record<string, string> | null
  places?: string | null
  queue?: string | null
  priority?: number | null
  retry?: RetryPolicyBody | null
  timeout_seconds?: number | null
  expected_seconds?: number | null
  concurrency?: number | null
  runs_per_key?: RunsPerKeyBody | null
  cost?: CostBody | null
}

export type Queue = {
  queue: string
  paused: boolean
  /** There are more than that when `pending_capped`. */
  pending: number
  pending_capped: boolean
  running: number
  running_capped: boolean
  oldest_waiting_seconds: number | null
  live_workers: number
  /** Whether claims rotate among the owners who wait in it. */
  fair_share: boolean
  /** With fair share: how many runs an owner gets for each run of an owner without a weight. */
  weights: Record<string, number>
  slots: number
  limit: number | null
  updated_at: string
}

/** What is not given stays as it is. Weights replace all there were; an owner without one has 1. */
export type QueueBody = { fair_share?: boolean | undefined; weights?: Record<string, number> | undefined }

export type WorkerState = 'live' | 'silent' | 'stopped'

export type Worker = {
  worker_id: string
  state: WorkerState
  host: string
  pid: number
  version: string
  queues: { queue: string; limit: number | null }[]
  models: { model: string; limit: number | null }[]
  concurrency: number
  running: number
  started_at: string
  last_seen_at: string
  stopped_at: string | null
}
