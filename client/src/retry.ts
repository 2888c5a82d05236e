/** When a failed request is sent again: after 1, 2 and 4 seconds, later when the service asks for it, and never a fourth time. */

import { type HoldfastError, Transient } from './errors.ts'

export const RETRIES_MAX = 3
const FIRST_DELAY_MS = 1_000
/** Who is asked to stay away for longer than this should say so to the caller, not sit there. */
const DELAY_MS_MAX = 120_000

/** What became of one request. `lost`: no answer, so nobody knows whether it was carried out. */
export type Fault =
  | { kind: 'timeout'; cause: unknown }
  | { kind: 'lost'; cause: unknown }
  | { kind: 'refused'; error: HoldfastError }

/** `always`: doing it twice is doing it once. `refused`: only when the service said that it did not do it. */
export type Repeat = 'always' | 'refused'

/** Null: do not send it again. */
export function retryDelayMs(fault: Fault, retriesDone: number, repeat: Repeat, retriesMax: number): number | null {
  if (retriesDone >= retriesMax) return null
  const delayMs = FIRST_DELAY_MS * 2 ** retriesDone
  if (fault.kind !== 'refused') return repeat === 'always' ? delayMs : null
  if (!(fault.error instanceof Transient)) return null
  // A gateway that gave up (502, 504) does not know what the service behind it did.
  if (repeat === 'refused' && fault.error.status !== 429 && fault.error.status !== 503) return null
  const askedMs = Math.max(delayMs, fault.error.retryAfterMs ?? 0)
  return askedMs <= DELAY_MS_MAX ? askedMs : null
}
