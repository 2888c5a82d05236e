/**
 * Retry policies: whether a failed attempt is followed by another, and after how long.
 *
 * A policy is made of three levels, model over queue over global, field by field. Counted attempts include crashes and
 * lost leases but no releases. The delay of the policy is drawn from `[delay * (1 - jitter), delay]`, so jitter never
 * waits longer than stated.
 */

export type Backoff = 'fixed' | 'exponential' | 'list'

export type RetryPolicy = {
  maxAttempts: number
  backoff: Backoff
  /** The delay of `fixed`, the first delay of `exponential`. */
  baseDelaySeconds: number
  /** No delay of the policy is longer. A `RetryAfter` of the model's code is not bound by it. */
  maxDelaySeconds: number
  /** What `exponential` multiplies by from one retry to the next. */
  factor: number
  /** The delays of `list`, the last of which repeats. */
  delaysSeconds: number[]
  /** 0 to 1: the part of a delay that is random. */
  jitter: number
  /** Error classes that are retried; null for all. */
  retryOn: string[] | null
  /** Error classes that are never retried. */
  noRetryOn: string[]
}

export type RetryPolicyInput = Partial<RetryPolicy>

export const DEFAULT_RETRY_POLICY: Readonly<RetryPolicy> = Object.freeze({
  maxAttempts: 3,
  backoff: 'list',
  baseDelaySeconds: 5,
  maxDelaySeconds: 3600,
  factor: 4,
  delaysSeconds: [5, 20, 60],
  jitter: 0.1,
  retryOn: null,
  noRetryOn: [],
})

/** A year: longer waits are a mistake, and the sum of a time and a delay must stay a valid time. */
export const RETRY_DELAY_SECONDS_MAX = 365 * 24 * 3600

export function mergeRetryPolicy(
  global: RetryPolicyInput,
  queue: RetryPolicyInput,
  model: RetryPolicyInput,
): RetryPolicy {
  return [global, queue, model].reduce<RetryPolicy>(overlay, DEFAULT_RETRY_POLICY)
}

/**
 * Puts a level over what lies below it. A level that sets delays without naming the backoff means the backoff those
 * delays belong to, and a cap from below never cuts delays that a level states itself.
 */
function overlay(below: RetryPolicy, level: RetryPolicyInput): RetryPolicy {
  const set = Object.fromEntries(Object.entries(level).filter(([, value]) => value !== undefined)) as RetryPolicyInput
  const merged: RetryPolicy = { ...below, ...set, backoff: set.backoff ?? impliedBackoff(below.backoff, set) }
  if (set.maxDelaySeconds === undefined) {
    merged.maxDelaySeconds = Math.max(below.maxDelaySeconds, set.baseDelaySeconds ?? 0, ...(set.delaysSeconds ?? []))
  }
  return merged
}

function impliedBackoff(below: Backoff, set: RetryPolicyInput): Backoff {
  if (set.delaysSeconds !== undefined) return 'list'
  if (set.factor !== undefined) return 'exponential'
  if (set.baseDelaySeconds !== undefined && below === 'list') return 'exponential'
  return below
}

export type RetryDecision =
  | { retry: true; delaySeconds: number }
  | { retry: false; reason: 'fatal' | 'no-retry-on' | 'not-in-retry-on' | 'attempts-exhausted' }

/**
 * `countedAttempts` includes the attempt that just failed, `random` is uniform in [0, 1). An error that says of itself
 * `retryable: true` need not be in `retryOn`, but `noRetryOn` holds for it too.
 */
export function decideRetry(input: {
  policy: RetryPolicy
  error: { class: string; retryable?: boolean; retryAfterSeconds?: number }
  countedAttempts: number
  maxAttempts: number
  random: number
}): RetryDecision {
  const { policy, error } = input
  if (error.retryable === false) return { retry: false, reason: 'fatal' }
  if (policy.noRetryOn.some((name) => namesClass(name, error.class))) return { retry: false, reason: 'no-retry-on' }
  if (
    error.retryable !== true &&
    policy.retryOn !== null &&
    !policy.retryOn.some((name) => namesClass(name, error.class))
  ) {
    return { retry: false, reason: 'not-in-retry-on' }
  }
  if (input.countedAttempts >= input.maxAttempts) return { retry: false, reason: 'attempts-exhausted' }
  const asked = error.retryAfterSeconds
  if (asked !== undefined && asked >= 0) return { retry: true, delaySeconds: Math.min(asked, RETRY_DELAY_SECONDS_MAX) }
  const delaySeconds = delayBefore(policy, input.countedAttempts)
  return { retry: true, delaySeconds: delaySeconds * (1 - policy.jitter * input.random) }
}

/** `Timeout` also names `package.errors.Timeout`, since some languages report a class with its path. */
export function namesClass(name: string, errorClass: string): boolean {
  return errorClass === name || errorClass.endsWith(`.${name}`)
}

/** The delay before jitter after this many counted attempts. */
function delayBefore(policy: RetryPolicy, countedAttempts: number): number {
  const retries = Math.max(countedAttempts, 1) - 1
  if (policy.backoff === 'list') {
    const delays = policy.delaysSeconds
    return Math.min(delays[Math.min(retries, delays.length - 1)] ?? 0, policy.maxDelaySeconds)
  }
  // A factor to a large power is Infinity, and zero times that would be no number.
  if (policy.backoff === 'fixed' || policy.baseDelaySeconds === 0) {
    return Math.min(policy.baseDelaySeconds, policy.maxDelaySeconds)
  }
  return Math.min(policy.baseDelaySeconds * policy.factor ** retries, policy.maxDelaySeconds)
}

const ATTEMPTS_MAX = 1000
const DELAYS_MAX = 100

const FIELDS: Record<string, { holds: (value: unknown) => boolean; wanted: string }> = {
  maxAttempts: {
    holds: (value) => Number.isInteger(value) && isBetween(value, 1, ATTEMPTS_MAX),
    wanted: `a whole number from 1 to ${ATTEMPTS_MAX}`,
  },
  backoff: {
    holds: (value) => value === 'fixed' || value === 'exponential' || value === 'list',
    wanted: '"fixed", "exponential" or "list"',
  },
  baseDelaySeconds: { holds: isDelay, wanted: `seconds from 0 to ${RETRY_DELAY_SECONDS_MAX}` },
  maxDelaySeconds: { holds: isDelay, wanted: `seconds from 0 to ${RETRY_DELAY_SECONDS_MAX}` },
  factor: { holds: (value) => isBetween(value, 1, 1000), wanted: 'a number from 1 to 1000' },
  delaysSeconds: {
    holds: (value) =>
      Array.isArray(value) && value.length >= 1 && value.length <= DELAYS_MAX && value.every((delay) => isDelay(delay)),
    wanted: `a list of 1 to ${DELAYS_MAX} delays, each seconds from 0 to ${RETRY_DELAY_SECONDS_MAX}`,
  },
  jitter: { holds: (value) => isBetween(value, 0, 1), wanted: 'a number from 0 to 1' },
  retryOn: { holds: (value) => value === null || isNames(value), wanted: 'null or a list of error class names' },
  noRetryOn: { holds: isNames, wanted: 'a list of error class names' },
}

/** The problems, one sentence each; none when the policy is good. An undefined field counts as not given. */
export function checkRetryPolicy(input: unknown): string[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return ['a retry policy must be an object']
  const problems: string[] = []
  for (const [name, value] of Object.entries(input)) {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
    if (field === undefined)
      problems.push(`${name} is no field of a retry policy; known are ${Object.keys(FIELDS).join(', ')}`)
    else if (value !== undefined && !field.holds(value)) problems.push(`${name} must be ${field.wanted}`)
  }
  const { baseDelaySeconds: base, maxDelaySeconds: max } = input as Record<string, unknown>
  if (isDelay(base) && isDelay(max) && base > max) problems.push('baseDelaySeconds must not be above maxDelaySeconds')
  return problems
}

function isDelay(value: unknown): value is number {
  return isBetween(value, 0, RETRY_DELAY_SECONDS_MAX)
}

function isBetween(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && value >= least && value <= most
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '')
}
