/** What a run shares with others of its model, owner and settings: the first parameters of the statements that insert runs. */

import { isSameLane } from './lanes.ts'
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

/**
 * The kinds of a batch as columns, and for each run the number of its kind, from 1. In a batch a kind has three more: how many names its runs
 * have, for how long their slot is theirs, and whether a success keeps it.
 */
export function kindsOfBatch(
  runs: readonly NewRun[],
  laneOf: (run: NewRun) => number,
): { kinds: unknown[][]; numbers: number[] } {
  const kinds = new Map<string, { number: number; kind: unknown[] }>()
  let last: NewRun | undefined
  let number = 0
  const numbers = runs.map((run) => {
    // Most runs are of the same kind as the one before.
    if (last && isSameKind(last, run)) return number
    last = run
    const kind = [...kindOfRun(run, laneOf(run)), nameCount(run), run.slot?.windowSeconds ?? null, keepsSucceeded(run)]
    const id = kind.join('\u0000')
    const known = kinds.get(id) ?? { number: kinds.size + 1, kind }
    kinds.set(id, known)
    number = known.number
    return number
  })
  return { kinds: columnsOf([...kinds.values()].map(({ kind }) => kind)), numbers }
}

function columnsOf(rows: unknown[][]): unknown[][] {
  return rows[0]!.map((_, column) => rows.map((row) => row[column]))
}

function isSameKind(a: NewRun, b: NewRun): boolean {
  return (
    isSameLane(a, b) &&
    a.executor === b.executor &&
    a.timeoutSeconds === b.timeoutSeconds &&
    a.expectedSeconds === b.expectedSeconds &&
    a.maxAttempts === b.maxAttempts &&
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
