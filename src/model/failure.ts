/**
 * The errors user code throws to steer what happens next. Any other error is retried as the retry policy says.
 *
 * Both are recognised by a brand and not by `instanceof`, so that a second copy of this package in a dependency tree still works.
 */

import { FATAL, RETRYABLE } from '../run/step-failure.ts'

const RETRY_AFTER = Symbol.for('holdfast.RetryAfter')

/** Ends the run as FAILED at once: trying again cannot help. */
export class Fatal extends Error {
  override readonly name: string = 'Fatal'
  readonly [FATAL] = true
}

/** Fails this attempt and asks for the next one after `delaySeconds` instead of the policy's backoff. */
export class RetryAfter extends Error {
  override readonly name: string = 'RetryAfter'
  readonly [RETRY_AFTER] = true
  readonly delaySeconds: number

  constructor(delaySeconds: number, message?: string, options?: ErrorOptions) {
    super(message ?? `try again in ${delaySeconds} s`, options)
    if (!Number.isFinite(delaySeconds) || delaySeconds < 0) {
      throw new RangeError(`RetryAfter needs a delay in seconds of 0 or more, got ${delaySeconds}`)
    }
    this.delaySeconds = delaySeconds
  }
}

/**
 * A step that was tried as often as its options allow. Another attempt would only try it again, so the run ends as FAILED, unless the
 * model's retry policy names RetryError in `retryOn`. Its stack is that of the last error.
 */
export class RetryError extends Error {
  override readonly name: string = 'RetryError'
  readonly step: string
  readonly tries: number

  constructor(
    step: string,
    tries: number,
    last: { class: string; message: string; stack: string | null },
    isFinal = true,
  ) {
    const times = tries === 1 ? 'once' : `${tries} times`
    super(`step ${JSON.stringify(step)} failed ${times}; last error: ${last.class}: ${last.message}`)
    this.step = step
    this.tries = tries
    if (last.stack !== null) this.stack = last.stack
    if (isFinal) Object.defineProperty(this, FATAL, { value: true })
  }
}

export function isFatal(thrown: object): boolean {
  return FATAL in thrown
}

/** Whether it asks for another attempt, whatever classes the policy names. */
export function isRetryable(thrown: object): boolean {
  return RETRYABLE in thrown
}

export function retryDelaySeconds(thrown: object): number | undefined {
  return RETRY_AFTER in thrown ? (thrown as RetryAfter).delaySeconds : undefined
}
