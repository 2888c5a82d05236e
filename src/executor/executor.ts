/**
 * The port to compute: one attempt of a run on some executor.
 *
 * The worker hands over an attempt, watches it and may cancel it. An executor never touches the store: the outcome it reports
 * becomes visible only when the worker settles it under a valid lease. `unreachable` is not `failed`: it says that
 * the executor cannot tell, and only the lease decides that an attempt is over.
 */

export type AttemptInput = {
  runId: string
  attempt: number
  model: string
  modelVersion: string
  /** Normalised parameters (defaults applied), as JSON values. */
  parameters: unknown
  seed: number
  /** Milliseconds the attempt may take from now; the executor ends it hard when they are over. */
  timeoutMs: number
  /** True: nothing else may share what the attempt runs in, before or after. A run that was reclaimed once asks for it. */
  alone?: boolean
  /** Shown to programs that run elsewhere. */
  owner?: string
  payloadHash?: string
  /** The files among the parameters, each as a local copy whose bytes were checked; none for most models. */
  files?: InputFile[]
}

/** `parameter` is the JSON pointer to the file's id, `path` where its bytes are to be read. */
export type InputFile = {
  parameter: string
  fileId: string
  name: string
  bytes: number
  type: string
  path: string
}

/** What a step gave, as canonical text. */
export type DoneStep = { name: string; outputText: string }

export type CommittedStep = DoneStep & {
  tries: number
  startedAt: Date
  /** Where it can be told apart from other work. */
  cpuSeconds: number | null
  peakMemoryBytes: number | null
}

/** A step that is under way or that failed, for people; written at most once a second and at the attempt's end. */
export type StepState = {
  name: string
  state: 'RUNNING' | 'WAITING' | 'FAILED'
  tries: number
  startedAt: Date
  lastError: { class: string; message: string } | null
  /** Of a map: how many of its items are done. */
  items?: { done: number; of: number }
}

export type StepReports = {
  /** What earlier attempts, or the run this one goes on from, have committed. */
  done(): Promise<DoneStep[]>
  /** Resolves once the output is durable; rejects when it is not, and when the lease is lost. */
  commit(step: CommittedStep): Promise<void>
  /** All steps that are not done, as they stand now. */
  states(states: StepState[]): void
}

/** What user code threw, in a form that survives a process border. */
export type AttemptError = {
  class: string
  message: string
  stack: string | null
  /** false: never retry (Fatal). Undefined: the retry policy decides. */
  retryable?: boolean
  /** Set by RetryAfter: wait this long instead of the policy's backoff. */
  retryAfterSeconds?: number
  /** Of a process that ended; 128 plus the signal's number when a signal ended it. */
  exitCode?: number | null
}

/**
 * `resultText` is the RFC 8785 text of the result; a value that is no JSON is reported as a failed attempt. `cost`: what an engine's job says it
 * cost; others report it while they run.
 */
export type Outcome =
  | { status: 'succeeded'; resultText: string; cost?: number }
  | { status: 'failed'; error: AttemptError; cost?: number }
  | { status: 'cancelled' }
  | { status: 'unreachable'; reason: string }
  /** An engine's job is gone for good and said nothing: the attempt counts, as after a dead worker. */
  | { status: 'lost'; reason: string }

/** Why the signal given to user code fires. */
export type AbortReason = 'cancelled' | 'timeout' | 'lease-lost' | 'shutdown'

/** What an attempt tells while it runs. The receiver throttles progress; calls are cheap. */
export type AttemptReports = {
  progress(value: unknown): void
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, fields?: Record<string, unknown>): void
  /** A piece of what the work printed, for the attempt's log; kept up to a limit. */
  output?(stream: 'stdout' | 'stderr', text: string): void
  /** What the work used, once at its end. */
  usage?(usage: { cpuSeconds: number | null; peakMemoryBytes: number | null }): void
  /** What the attempt has cost so far; the latest value counts. */
  cost?(amount: number): void
  /** A file the work left, once its bytes are stored under `ref`; on record before the attempt ends. */
  artifact?(artifact: Artifact): void
  /** For models with steps; workers give them all. */
  steps?: StepReports
  /** For engines; workers give them all. */
  engine?: EngineReports
}

/** `name` is the path in the folder of output files; `sha256` is hexadecimal. */
export type Artifact = { name: string; bytes: number; sha256: string; ref: string }

/** Where an engine runs an attempt, such as `{cluster, submission_id}`. */
export type ExternalRef = { readonly [name: string]: unknown }

export type EngineReports = {
  /**
   * Commits where the attempt goes and the SHA-256 of the ticket its job will trade for an attempt token, before the engine is asked.
   * Rejects when the lease is lost.
   */
  handOver(ref: ExternalRef, ticketHash: Buffer): Promise<void>
  /** The first sign of life, or a better `ref`. */
  alive(ref?: ExternalRef): Promise<void>
  /** What the job itself said of its end, if it has; the truth over what the engine says. */
  jobOutcome(): Promise<Outcome | null>
  /** Calls back when the job may have said how it ended; answers how to stop listening. */
  onJobOutcome(wake: () => void): () => void
}

/** `ended`: the outcome of work that was over before `submit` returned. */
export type Handle = { readonly runId: string; readonly attempt: number; readonly ended?: Outcome | undefined }

export interface Executor {
  readonly name: string
  /** Starts the attempt. Throws only when it could not be started at all. */
  submit(attempt: AttemptInput, reports: AttemptReports): Handle | Promise<Handle>
  /** Resolves with the outcome; never rejects. */
  watch(handle: Handle): Promise<Outcome>
  /**
   * Asks the work to stop (signal, then force after `graceMs`); resolves when it is confirmed gone. Safe to call twice.
   * Engines (with `adopt`): `shutdown` and `lease-lost` end the watching only, with `unreachable`; the job goes on, and whoever holds the
   * lease next adopts it. `cancelled` and `timeout` stop the job itself.
   */
  cancel(handle: Handle, reason: AbortReason, graceMs: number): Promise<void>
  /** Engines: goes on with a job that an earlier holder of the lease started. Throws when it cannot even be asked for. */
  adopt?(attempt: AttemptInput, ref: ExternalRef, reports: AttemptReports): Promise<Handle>
  /** How many more attempts it can take now; without it, as many as the worker has slots. */
  room?(): number
  /** Ends idle helpers such as pool children; attempts must have ended before. */
  stop(): Promise<void>
}
