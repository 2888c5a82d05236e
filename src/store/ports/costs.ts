/**
 * Costs: what runs hold until they have ended, and what they did cost.
 *
 * The statement that ends a run closes its row in the ledger. Ends that nobody settles, such as the cancel of a waiting run, are closed by
 * the janitor; until then the run counts as held, so a limit is never passed by what is late. What is closed is added up by day.
 */

import type { CostState } from '../../run/cost.ts'

export type RunCosts = {
  state: CostState
  /** The estimate; it counts while the state is HELD. */
  held: number
  settled: number
  currency: string | null
}

export interface Costs {
  /** Closes what ended without a word about its cost, at most so many; answers how many. */
  closeEnded(limit: number): Promise<number>
  /** Adds closed amounts to their days, at most so many; answers how many. */
  roll(limit: number): Promise<number>
  /** Null for a run without a cost. Also of runs that were deleted. */
  of(runId: string): Promise<RunCosts | null>
}
