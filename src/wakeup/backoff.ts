/**
 * How long to wait before the next try to connect: doubling from 50 ms to 5 s, each wait shortened at random by up to
 * half.
 */

const FIRST_MS = 50
export const BACKOFF_CAP_MS = 5_000

/** `failures` counts from 0; `random` is in [0, 1). */
export function backoffMs(failures: number, random: number): number {
  const whole = Math.min(BACKOFF_CAP_MS, FIRST_MS * 2 ** Math.min(failures, 30))
  return whole * (1 - random / 2)
}
