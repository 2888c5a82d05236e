/**
 * The janitor's work on the cost ledger: closes what ended without a settle, and adds what is closed to its day. Until then a run counts as
 * held, so being late never lets a limit be passed.
 */

import type { Costs } from '../store/ports/costs.ts'

const BATCH_MAX = 2_000
/** A look over many waiting runs takes long, and is taken less often: at most a twentieth of the time goes into it. */
const REST_PER_LOOK = 20

export type TidyCostsDeps = { store: { costs?: Pick<Costs, 'closeEnded' | 'roll'> } }

/** Answers whether there may be more. */
export function createTidyCosts(nowMs = () => performance.now()): (deps: TidyCostsDeps) => Promise<boolean> {
  let nextAtMs = 0
  return async ({ store: { costs } }) => {
    const startedAtMs = nowMs()
    if (!costs || startedAtMs < nextAtMs) return false
    const closed = await costs.closeEnded(BATCH_MAX)
    nextAtMs = nowMs() + REST_PER_LOOK * (nowMs() - startedAtMs)
    const rolled = await costs.roll(BATCH_MAX)
    const isMore = closed === BATCH_MAX || rolled === BATCH_MAX
    if (isMore) nextAtMs = 0
    return isMore
  }
}
