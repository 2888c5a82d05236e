/**
 * The errors user code throws to steer what happens next. Any other error is retried as the retry policy says.
 *
 * Both are recognised by a brand and not by `instanceof`, so that a second copy of this package in a dependency tree still works.
 */

const FATAL = Symbol.for('holdfast.Fatal')
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

export function isFatal(thrown: object): boolean {
  return FATAL in thrown
}

export function retryDelaySeconds(thrown: object): number | undefined {
  return RETRY_AFTER in thrown ? (thrown as RetryAfter).delaySeconds : undefined
}
