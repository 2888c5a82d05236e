/** The verbs of steps, bound to their pools. */

import type pg from 'pg'
import { createCommitHeld } from './commit-held-steps.ts'
import { commitStep } from './commit-step.ts'
import { GroupCommit } from './group-commit.ts'
import type { Steps } from './ports/steps.ts'
import { bytesOfSteps, haveSteps, listItems, listSteps, overviewOfSteps } from './read-steps.ts'
import { readStepStates, saveStepStates } from './step-states.ts'

/** Of an integer column. */
const BYTES_MAX = 2 ** 31 - 1
const LOOKS_MAX = 1_000

type Answered = <T>(asked: Promise<T>) => Promise<T>

/** Requests are answered on `reads`; what workers do on `work`, whose plans are pinned. */
export function createSteps({ work, reads }: { work: pg.Pool; reads: pg.Pool }, answered: Answered): Steps {
  const commitHeld = createCommitHeld({ pool: work })
  const looks = new GroupCommit<string, boolean>({
    flush: (runIds) => haveSteps(work, runIds),
    batchMax: LOOKS_MAX,
    lanes: 1,
  })
  return {
    commit: (runId, tokenHash, step, limits) => answered(commitStep(reads, runId, tokenHash, step, limits)),
    commitHeld: (fence, step, limits) => answered(commitHeld(fence, step, limits)),
    list: (runId, textBytesMax = BYTES_MAX) => answered(listSteps(reads, runId, textBytesMax)),
    hasAny: (runId) => answered(looks.add(runId)),
    overview: (runId, textBytesMax) => answered(overviewOfSteps(reads, runId, textBytesMax)),
    items: (runId, map, page) => answered(listItems(reads, runId, map, page)),
    bytesOf: (runIds) => answered(bytesOfSteps(reads, runIds)),
    saveStates: (items) => saveStepStates(work, items),
    states: (runId) => answered(readStepStates(reads, runId)),
  }
}
