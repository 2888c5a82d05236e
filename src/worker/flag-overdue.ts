/**
 * The janitor's look at attempts that take far longer than expected: each is flagged, counted and logged once, and left to its work. What ends
 * it is its timeout, which is three times the expected duration where none is set.
 */

import { runFields } from '../telemetry/log.ts'
import type { JanitorDeps } from './janitor.ts'

const BATCH_MAX = 200
/** A look that takes long is taken less often: at most a twentieth of the time goes into it. */
const REST_PER_LOOK = 20

/** The duty, which does something every so often and else nothing at all. Answers whether there may be more. */
export function createFlagOverdue(everyMs: number): (deps: JanitorDeps) => Promise<boolean> {
  let nextAtMs = 0
  return async ({ store, metrics, log }) => {
    const startedAtMs = performance.now()
    if (!store.overdue || startedAtMs < nextAtMs) return false
    const flagged = await store.overdue.flag(BATCH_MAX)
    metrics.runsOverdue.inc(flagged.length)
    for (const { expectedSeconds, runningSeconds, model, attempt, ...run } of flagged) {
      const fields = runFields({ ...run, status: 'RUNNING', attemptCount: attempt })
      log.warn(
        { ...fields, model, expected_seconds: expectedSeconds, running_seconds: Math.round(runningSeconds) },
        'run overdue: it takes more than three times the expected duration',
      )
    }
    const forgotten = await store.overdue.forget(BATCH_MAX)
    if (flagged.length === BATCH_MAX || forgotten === BATCH_MAX) return true
    const tookMs = performance.now() - startedAtMs
    nextAtMs = startedAtMs + Math.max(everyMs, REST_PER_LOOK * tookMs)
    return false
  }
}
