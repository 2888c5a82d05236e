/**
 * When a delivery that did not work is tried again: after each failure the next wait of a list that spans days, up to a fifth shorter or
 * longer, so that what failed together does not come back together. When the list is over, the delivery is given up.
 */

export const DELIVERY_DELAYS_SECONDS: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
/** What a receiver may ask for. */
export const RETRY_AFTER_MS_MAX = 24 * 3_600_000
const JITTER = 0.2

export type Failure = {
  /** Sends before the one that failed. */
  tries: number
  /** When the receiver said how long to wait: counts when it is longer. */
  retryAfterMs?: number | undefined
}

/** Milliseconds until the next try; null when there is none. `random` is in [0, 1). */
export function backoffMs(
  { tries, retryAfterMs }: Failure,
  random: number,
  delaysSeconds = DELIVERY_DELAYS_SECONDS,
): number | null {
  const seconds = delaysSeconds[Math.max(0, tries)]
  if (seconds === undefined) return null
  const waitMs = seconds * 1_000 * (1 - JITTER + 2 * JITTER * random)
  const asked = retryAfterMs !== undefined && retryAfterMs > 0 ? Math.min(retryAfterMs, RETRY_AFTER_MS_MAX) : 0
  return Math.round(Math.max(waitMs, asked))
}

/** The value of a Retry-After header, seconds or a date, in milliseconds from now; undefined when it says nothing we can use. */
export function parseRetryAfter(text: string | undefined, nowMs: number): number | undefined {
  const value = text?.trim() ?? ''
  if (/^\d{1,10}$/.test(value)) return Math.min(Number(value) * 1_000, RETRY_AFTER_MS_MAX)
  // Every date begins with the name of a day; whatever else Date.parse takes is no Retry-After.
  const atMs = /^[A-Za-z]{3,9},? /.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(atMs)) return undefined
  return Math.min(Math.max(0, atMs - nowMs), RETRY_AFTER_MS_MAX)
}
