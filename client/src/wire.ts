/**
 * Runs as they travel: the shapes of requests and answers about them. They are written out here so that the package stands alone;
 * a test holds them equal to the schemas that the service answers with.
 *
 * Every name is always there: what does not exist is null. Times are ISO 8601 in UTC.
 */

export type RunStatus = 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED'

export type AttemptState = 'SUBMITTED' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | 'LOST' | 'RELEASED'

export type Attempt = {
  attempt: number
  state: AttemptState
  worker_id: string
  executor: string
  submitted_at: string
  started_at: string | null
  finished_at: string | null
  error: { class: string; message: string; stack: string | null } | null
  exit_code: number | null
  /** Where an engine has it, such as cluster and submission id. */
  external_ref: unknown
  progress: unknown
  /** What it used, where the executor measures it. */
  cpu_seconds: number | null
  peak_memory_bytes: number | null
  /** Not null when it printed something. */
  log_ref: string | null
}

/** A point on the map that the result of a run names. */
export type Place = {
  latitude: number
  longitude: number
  label: string | null
  /** The file it was found in. */
  file_id: string | null
}

/** A run that retries another. */
export type RunRetry = { run_id: string; status: RunStatus; created_at: string }

/** A file that an attempt of a run left. */
export type Artifact = {
  /** As the program named it, with slashes for folders. */
  name: string
  attempt: number
  bytes: number
  /** Of the bytes, hexadecimal. */
  sha256: string
  /** Where to download it. */
  href: string
}

/** A piece of what the attempts of a run printed. */
export type LogPiece = {
  /** 1, 2, 3 … of the run, over all its attempts. */
  no: number
  attempt: number
  at: string
  stream: 'stdout' | 'stderr' | 'log'
  text: string
}

/** Why a PENDING run has not started, in a word and in words. Which of the other names are not null depends on the reason. */
export type Waiting = {
  reason: 'approval' | 'scheduled' | 'backoff' | 'queue-paused' | 'no-worker' | 'concurrency' | 'queued'
  detail: string
  /** Of `scheduled` and `backoff`: the run does not start before. */
  until: string | null
  /** Of `queued`: how many runs start before this one; there are more than that when `ahead_capped`. */
  ahead: number | null
  ahead_capped: boolean | null
  /** Of `concurrency`: how many runs may execute at once, of what, how many do, and up to ten of them. */
  limit: number | null
  limit_of: 'model' | 'queue' | 'key' | null
  held: number | null
  held_by: string[] | null
  /** Of `no-worker`: what the live workers lack, and which versions of the model they offer. */
  missing: 'queue' | 'model' | 'version' | null
  offered_versions: string[] | null
  /** Of `approval`, and of `concurrency` of a key: since when it has been waiting for this. */
  since: string | null
  /** Of `approval`: the rule that asks for it, with the limit it is over. */
  rule: { owner: string; model: string | null; together: boolean; limit: string; maximum: number; used: number } | null
  /** Of `concurrency` with `limit_of` `key`: the concurrency key. */
  key: string | null
}

/** A file among the parameters of a run. */
export type RunFile = {
  /** A JSON pointer into the parameters. */
  parameter: string
  file_id: string
  name: string
  size: number
  type: string
}

/** What a run of a model with a cost holds, or did cost. */
export type RunCost = {
  /** HELD until the run has ended, or up to a second longer; then SETTLED, or RELEASED when nothing was charged. */
  state: 'HELD' | 'SETTLED' | 'RELEASED'
  /** The estimate; it counts against limits of cost while HELD. */
  held: number
  /** What was charged; 0 unless SETTLED. */
  settled: number
  currency: string | null
}

export type Run = {
  run_id: string
  model: string
  model_version: string
  status: RunStatus
  owner: string
  queue: string
  priority: number
  parameters: unknown
  payload_hash: string
  created_at: string
  /** Null for a run that waits for approval or for a place of its concurrency key. */
  available_at: string | null
  started_at: string | null
  finished_at: string | null
  attempt_count: number
  max_attempts: number
  /** Null in lists, which do not load them. */
  attempts: Attempt[] | null
  last_error: { class: string; message: string; attempt: number } | null
  lease: { owner: string; expires_at: string; epoch: number } | null
  /** Null unless PENDING. Lists say it of runs that wait for approval or for a concurrency key. */
  waiting: Waiting | null
  cancel_requested_at: string | null
  /** Since when the present attempt has been taking more than three times the expected duration. */
  overdue_since: string | null
  result_ref: string | null
  result_hash: string | null
  batch_id: string | null
  tags: string[]
  title: string | null
  /** The files among the parameters; null in lists, which do not load them. */
  files: RunFile[] | null
  /** Null for a run of a model without a cost, and in lists, which do not load it. */
  cost: RunCost | null
  retry_of: string | null
  reproduces: string | null
  links: { self: string; result: string; events: string }
}

/** What a submit answers: the run, whether an earlier request had made it, and limits of its owner that are near. */
export type SubmittedRun = Run & {
  idempotent_hit: boolean
  quota_warnings: string[]
  cost_limit_warning: string | null
}

/** An older service leaves these out. */
export type Warned = { quota_warnings?: string[] | null; cost_limit_warning?: string | null }

export type SubmitBody = {
  model: string
  model_version?: string | null | undefined
  parameters: Record<string, unknown>
  derived_from?: string | null | undefined
  idempotency_key?: string | null | undefined
  idempotency_ttl_seconds?: number | null | undefined
  dedupe?: 'active' | 'succeeded' | 'off' | null | undefined
  queue?: string | null | undefined
  priority?: number | null | undefined
  available_at?: string | null | undefined
  tags?: string[] | null | undefined
  title?: string | null | undefined
  batch_id?: string | null | undefined
  reservation_id?: string | null | undefined
  executor?: string | null | undefined
  max_attempts?: number | null | undefined
  timeout_seconds?: number | null | undefined
  /** At most `limit` (1) active runs of the owner have this key. */
  concurrency?:
    | { key: string; limit?: number | null | undefined; mode?: 'queue' | 'refuse' | 'cancel_older' | null | undefined }
    | null
    | undefined
}

/** Every refusal (RFC 9457). More names may follow, depending on the code. */
export type Problem = {
  [name: string]: unknown
  type: string
  title: string
  status: number
  code: string
  detail: string
  next: string
  retryable: boolean
  instance: string
  errors?: { pointer: string; detail: string }[] | undefined
}

export type Page<Item> = { data: Item[]; next_cursor: string | null }
