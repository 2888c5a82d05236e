/** What a run shares with others of its model, owner and settings: the first parameters of the statements that insert runs. */

import type { NewRun } from './store.ts'

/** Ten of them. */
export function kindOfRun(run: NewRun, lane: number): unknown[] {
  return [
    run.model,
    run.modelVersion,
    run.queue,
    run.priority,
    lane,
    run.executor,
    run.timeoutSeconds,
    run.expectedSeconds,
    run.maxAttempts,
    run.owner,
  ]
}

/** Beside those, in a batch: how many names its runs have, for how long their slot is theirs, and whether a success keeps it. */
const COLUMNS_OF_BATCH = 13

/** The kinds of a batch as columns, and for each run the number of its kind, from 1. */
export function kindsOfBatch(
  runs: readonly NewRun[],
  laneOf: (run: NewRun) => number,
): { kinds: unknown[][]; numbers: number[] } {
  const kinds: unknown[][] = Array.from({ length: COLUMNS_OF_BATCH }, () => [])
  const numberById = new Map<string, number>()
  let last: NewRun | undefined
  let number = 0
  const numbers = runs.map((run) => {
    // Most runs are of the same kind as the one before.
    if (last && isSameKind(last, run)) return number
    last = run
    const kind = [...kindOfRun(run, laneOf(run)), nameCount(run), run.slot?.windowSeconds ?? null, keepsSucceeded(run)]
    const id = kind.join('\u0000')
    number = numberById.get(id) ?? numberById.size + 1
    if (number > numberById.size) {
      numberById.set(id, number)
      for (const [column, value] of kind.entries()) kinds[column]!.push(value)
    }
    return number
  })
  return { kinds, numbers }
}

/** Then they have the same lane, too. */
function isSameKind(a: NewRun, b: NewRun): boolean {
  return (
    a.model === b.model &&
    a.modelVersion === b.modelVersion &&
    a.queue === b.queue &&
    a.priority === b.priority &&
    a.executor === b.executor &&
    a.timeoutSeconds === b.timeoutSeconds &&
    a.expectedSeconds === b.expectedSeconds &&
    a.maxAttempts === b.maxAttempts &&
    a.owner === b.owner &&
    nameCount(a) === nameCount(b) &&
    a.slot?.windowSeconds === b.slot?.windowSeconds &&
    keepsSucceeded(a) === keepsSucceeded(b)
  )
}

function nameCount({ key, retryOf }: NewRun): number {
  return (key ? 1 : 0) + (retryOf ? 1 : 0)
}

function keepsSucceeded({ slot }: NewRun): boolean {
  return slot?.dedupe === 'succeeded'
}
