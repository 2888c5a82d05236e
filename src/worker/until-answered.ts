/**
 * Asks the database again and again until it answers, for what must be on record before an attempt ends. Only for what may be sent twice: the
 * answer to an earlier sending may have been lost.
 */

const RETRY_MS_MAX = 2_000

export type UntilAnswered = {
  onFirstFailure: (error: unknown) => void
  /** Nobody waits any more; then the last error is thrown. */
  isGivenUp: () => boolean
}

/**
 * Its options are asked for when something fails, which is so rare that nobody should pay for them before. `failure`: why it has
 * failed already.
 */
export function untilAnswered<Got>(
  ask: () => Promise<Got>,
  options: () => UntilAnswered,
  failure?: unknown,
): Promise<Got> {
  if (failure !== undefined) return askAgain(ask, failure, options())
  return ask().catch((error) => askAgain(ask, error, options()))
}

async function askAgain<Got>(
  ask: () => Promise<Got>,
  firstError: unknown,
  { onFirstFailure, isGivenUp }: UntilAnswered,
): Promise<Got> {
  onFirstFailure(firstError)
  let error = firstError
  for (let tries = 1; !isGivenUp(); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(RETRY_MS_MAX, 25 * 2 ** Math.min(tries, 8))))
    try {
      return await ask()
    } catch (another) {
      error = another
    }
  }
  throw error
}
