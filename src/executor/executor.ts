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

/** `resultText` is the RFC 8785 text of the result; a value that is no JSON is reported as a failed attempt. */
export type Outcome =
  | { status: 'succeeded'; resultText: string }
  | { status: 'failed'; error: AttemptError }
  | { status: 'cancelled' }
  | { status: 'unreachable'; reason: string }

/** Why the signal given to user code fires. */
export type AbortReason = 'cancelled' | 'timeout' | 'lease-lost' | 'shutdown'

/** What an attempt tells while it runs. The receiver throttles progress; calls are cheap. */
export type AttemptReports = {
  progress(value: unknown): void
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, fields?: Record<string, unknown>): void
}

/** `ended`: the outcome of work that was over before `submit` returned. */
export type Handle = { readonly runId: string; readonly attempt: number; readonly ended?: Outcome | undefined }

export interface Executor {
  readonly name: string
  /** Starts the attempt. Throws only when it could not be started at all. */
  submit(attempt: AttemptInput, reports: AttemptReports): Handle | Promise<Handle>
  /** Resolves with the outcome; never rejects. */
  watch(handle: Handle): Promise<Outcome>
  /** Asks the work to stop (signal, then force after `graceMs`); resolves when it is confirmed gone. Safe to call twice. */
  cancel(handle: Handle, reason: AbortReason, graceMs: number): Promise<void>
  /** Ends idle helpers such as pool children; attempts must have ended before. */
  stop(): Promise<void>
}
