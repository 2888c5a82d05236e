/**
 * Every error this client throws about a request or a run, but for an abort: that rejects with the reason of the caller's signal.
 *
 *     HoldfastError              the service refused: `status`, `code` and the whole `problem`
 *     ├─ QuotaExceeded           never retried: a limit that waiting a second does not change
 *     │  └─ CostLimitExceeded    the limit is one of money
 *     ├─ Conflict                409: the key was used for something else, the run has already ended, …
 *     ├─ RunFailed, RunCancelled the run ended without a result
 *     ├─ UploadFailed            a file did not arrive; says what to do, and from where it can go on
 *     └─ Transient               may pass by itself
 *        └─ MaxRetriesExceeded   it did not pass while this client tried
 *           └─ Timeout           no answer in time; or the run has not ended within the time the caller gave
 */

import type { Problem, Run } from './wire.ts'
import type { QuotaRuleName } from './wire-quotas.ts'

export type ErrorDetails = {
  status?: number | null
  code?: string | null
  problem?: Problem | null
  cause?: unknown
}

export class HoldfastError extends Error {
  override readonly name: string = 'HoldfastError'
  /** HTTP status; null when there was no answer. */
  readonly status: number | null
  /** As in the catalogue of the service; null when the answer did not come from it. */
  readonly code: string | null
  readonly problem: Problem | null

  constructor(message: string, { status = null, code = null, problem = null, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = code
    this.problem = problem
  }
}

/** Which rule refused, as the service tells it; null where it does not. */
export class QuotaExceeded extends HoldfastError {
  override readonly name: string = 'QuotaExceeded'
  /** The rule that bound: whose it is (`*` for everyone's), for which model (null for all), and whether all owners share it. */
  readonly rule: QuotaRuleName | null
  /** Such as `max_concurrent` or `cost_per_day`. */
  readonly limit: string | null
  readonly maximum: number | null
  readonly used: number | null
  /** Some of the runs and reservations that hold the limit, those that the caller may see. */
  readonly holders: string[]

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details)
    const told = (details.problem ?? {}) as Record<string, unknown>
    this.rule = isObject(told.rule) ? (told.rule as QuotaRuleName) : null
    this.limit = typeof told.limit === 'string' ? told.limit : null
    this.maximum = typeof told.maximum === 'number' ? told.maximum : null
    this.used = typeof told.used === 'number' ? told.used : null
    this.holders = Array.isArray(told.holders) ? told.holders.map(String) : []
  }
}

export class CostLimitExceeded extends QuotaExceeded {
  override readonly name = 'CostLimitExceeded'
}

export class Conflict extends HoldfastError {
  override readonly name = 'Conflict'
}

export class Transient extends HoldfastError {
  override readonly name: string = 'Transient'
  /** How long the service asked to be left alone. */
  readonly retryAfterMs: number | null

  constructor(message: string, details: ErrorDetails & { retryAfterMs?: number | null } = {}) {
    super(message, details)
    this.retryAfterMs = details.retryAfterMs ?? null
  }
}

export type GivenUpDetails = ErrorDetails & {
  retryAfterMs?: number | null
  attempts: number
  key?: string | null
  runId?: string | null
}

export class MaxRetriesExceeded extends Transient {
  override readonly name: string = 'MaxRetriesExceeded'
  /** Requests sent in all. */
  readonly attempts: number
  /** The idempotency key of the call, when it had one: sent again with it, the call cannot make a second run. */
  readonly key: string | null
  readonly runId: string | null

  constructor(message: string, details: GivenUpDetails) {
    super(message, details)
    this.attempts = details.attempts
    this.key = details.key ?? null
    this.runId = details.runId ?? null
  }
}

export class Timeout extends MaxRetriesExceeded {
  override readonly name = 'Timeout'
}

/** `run` is null when only its result was asked for. */
export class RunFailed extends HoldfastError {
  override readonly name = 'RunFailed'
  readonly runId: string
  readonly run: Run | null

  constructor(message: string, details: ErrorDetails & { runId: string; run?: Run | null }) {
    super(message, details)
    this.runId = details.runId
    this.run = details.run ?? null
  }
}

export class RunCancelled extends HoldfastError {
  override readonly name = 'RunCancelled'
  readonly runId: string
  readonly run: Run | null

  constructor(message: string, details: ErrorDetails & { runId: string; run?: Run | null }) {
    super(message, details)
    this.runId = details.runId
    this.run = details.run ?? null
  }
}

export type UploadFailedDetails = ErrorDetails & {
  file: string
  key: string
  uploadId?: string | null
  received?: number
  keptUntil?: string | null
  isOutage: boolean
}

export class UploadFailed extends HoldfastError {
  override readonly name = 'UploadFailed'
  /** The name of the file. */
  readonly file: string
  /** The idempotency key: with it the same upload is made only once, however often it is tried. */
  readonly key: string
  /** The resumable upload that has what arrived: given as `resume`, the upload goes on there. */
  readonly uploadId: string | null
  /** Bytes that have arrived and are kept. */
  readonly received: number
  readonly keptUntil: string | null
  /** The service was out of reach or busy, not the file at fault. */
  readonly isOutage: boolean

  constructor(message: string, details: UploadFailedDetails) {
    super(message, details)
    this.file = details.file
    this.key = details.key
    this.uploadId = details.uploadId ?? null
    this.received = details.received ?? 0
    this.keptUntil = details.keptUntil ?? null
    this.isOutage = details.isOutage
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
