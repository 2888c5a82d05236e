/** What a run shares with others of its model, owner and settings: the first ten parameters of the statements that insert runs. */

import type { NewRun } from './store.ts'

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
