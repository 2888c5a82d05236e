/**
 * Asks the database again and again until it answers, for what must be on record before an attempt ends. Only for what may be sent twice: the
 * answer to an earlier sending may have been lost.
 */

const RETRY_MS_MAX = 2_000

/** `isGivenUp`: nobody waits any more; then the last error is thrown. */
export async function untilAnswered<Got>(
  ask: () => Promise<Got>,
  { onFirstFailure, isGivenUp }: { onFirstFailure: (error: unknown) => void; isGivenUp: () => boolean },
): Promise<Got> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask()
    } catch (error) {
      if (tries === 1) onFirstFailure(error)
      if (isGivenUp()) throw error
      await new Promise((resolve) => setTimeout(resolve, Math.min(RETRY_MS_MAX, 25 * 2 ** Math.min(tries, 8))))
    }
  }
}
