/** The verbs of blocked runs, bound to their pools. */

import type pg from 'pg'
import { readAskedKey } from './asked-keys.ts'
import { approveRun, rejectRun } from './decide-approval.ts'
import type { Blocks } from './ports/blocks.ts'
import { promoteAfter, promoteDue } from './promote-keys.ts'
import { readBlocks, readStoppedFor } from './read-blocks.ts'

/** So long after the last run with a key was heard of, runs that end are not asked about any more. */
const IN_USE_MS = 60_000

/** `pinned`: with plans that are kept. */
export function createBlocks(
  { singles, pinned }: { singles: pg.Pool; pinned: pg.Pool },
  answered: <T>(asked: Promise<T>) => Promise<T>,
): Blocks {
  let heardAtMs = Number.NEGATIVE_INFINITY
  const hear = () => {
    heardAtMs = performance.now()
  }

  return {
    approve: (decision) => answered(approveRun(singles, decision)),
    reject: (decision) => answered(rejectRun(singles, decision)),
    async promote(keysMax) {
      const { isUsed, ...given } = await promoteDue(pinned, keysMax)
      if (isUsed) hear()
      return given
    },
    promoteAfter: (runIds) => promoteAfter(pinned, runIds),
    get areKeysInUse() {
      return performance.now() - heardAtMs < IN_USE_MS
    },
    askedKey: (runId) => answered(readAskedKey(pinned, runId)),
    stoppedFor: (runIds) => readStoppedFor(pinned, runIds),
    async waitingOf(runIds, sees) {
      if (runIds.length === 0) return new Map()
      const reasons = await answered(readBlocks(pinned, runIds, sees))
      if ([...reasons.values()].some(({ reason }) => reason === 'concurrency')) hear()
      return reasons
    },
  }
}
