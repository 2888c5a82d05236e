/**
 * The janitor's duties, one function each. Every worker runs one; two at once are harmless, because each change is one guarded
 * statement that skips what another is changing.
 */

import type { AttemptLogs } from '../store/ports/attempt-logs.ts'
import type { Attempts } from '../store/ports/attempts.ts'
import type { Costs } from '../store/ports/costs.ts'
import type { Overdue } from '../store/ports/overdue.ts'
import type { Quotas } from '../store/ports/quotas.ts'
import type { Reservations } from '../store/ports/reservations.ts'
import type { Reclaimed, Store } from '../store/store.ts'
import { type Log, runFields } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Topic } from '../wakeup/wakeup.ts'

export type JanitorDeps = {
  workerId: string
  store: Pick<Store, 'reclaimExpired' | 'confirmOverdueCancels' | 'deleteExpiredKeys' | 'forgetDeadWorkers'> & {
    attempts?: Pick<Attempts, 'forgetJobOutcomes'>
    attemptLogs?: Pick<AttemptLogs, 'deleteOlderThan'>
    overdue?: Pick<Overdue, 'flag' | 'forget'>
    costs?: Pick<Costs, 'closeEnded' | 'roll'>
    quotas?: Pick<Quotas, 'tidy'>
    reservations?: Pick<Reservations, 'tidy'>
  }
  hint: (topic: Topic, runId: string) => void
  cancelConfirmMs: number
  /** How long after its lease expired an attempt that an engine has is left to be adopted. */
  adoptMs?: number
  /** How long logs of attempts are kept; for ever without it. */
  logKeepMs?: number | null
  log: Log
  metrics: Metrics
}

const BATCH_MAX = 200
const KEYS_MAX = 1_000
const LOGS_MAX = 2_000
const DEAD_WORKER_MS = 24 * 3600 * 1000

/** Takes back runs whose lease expired. Answers whether there may be more. */
export async function reclaimExpiredLeases(deps: JanitorDeps): Promise<boolean> {
  const taken = await deps.store.reclaimExpired({
    workerId: deps.workerId,
    limit: BATCH_MAX,
    ...adoptMsOf(deps),
  })
  deps.metrics.stuckRunsDetected.inc(taken.length)
  for (const run of taken) {
    deps.metrics.attempts.inc('LOST')
    countEnd(deps, run)
    deps.log.warn({ ...fields(run), overdue_ms: Math.round(run.overdueMs) }, 'lease expired; the run was taken back')
    if (run.status === 'PENDING') deps.hint(`queue:${run.queue}`, run.runId)
    // The holder may be alive and merely cut off: it learns at once that its work is void.
    deps.hint(`worker:${run.workerId}`, run.runId)
  }
  return taken.length === BATCH_MAX
}

/** Ends cancelled runs whose holder has not confirmed in time. */
export async function endUnconfirmedCancels(deps: JanitorDeps): Promise<boolean> {
  const ended = await deps.store.confirmOverdueCancels({
    afterMs: deps.cancelConfirmMs,
    limit: BATCH_MAX,
    ...adoptMsOf(deps),
  })
  for (const run of ended) {
    deps.metrics.attempts.inc('CANCELLED')
    countEnd(deps, run)
    deps.log.warn(fields(run), 'run cancelled without a confirmation from its worker')
    deps.hint(`worker:${run.workerId}`, run.runId)
  }
  return ended.length === BATCH_MAX
}

export async function cleanKeys(deps: JanitorDeps): Promise<boolean> {
  return (await deps.store.deleteExpiredKeys(KEYS_MAX)) === KEYS_MAX
}

export async function forgetWorkers(deps: JanitorDeps): Promise<boolean> {
  await deps.store.forgetDeadWorkers(DEAD_WORKER_MS)
  return false
}

/** What jobs said, once it is settled, and what attempts printed, once it is old. */
export async function cleanAttempts({ store, logKeepMs }: JanitorDeps): Promise<boolean> {
  const forgotten = (await store.attempts?.forgetJobOutcomes(LOGS_MAX)) ?? 0
  const deleted = logKeepMs ? ((await store.attemptLogs?.deleteOlderThan(logKeepMs, LOGS_MAX)) ?? 0) : 0
  return forgotten === LOGS_MAX || deleted === LOGS_MAX
}

function adoptMsOf({ adoptMs }: JanitorDeps): { adoptMs?: number } {
  return adoptMs === undefined ? {} : { adoptMs }
}

function countEnd({ metrics }: JanitorDeps, run: Reclaimed): void {
  if (run.status === 'FAILED') metrics.runsFailed.inc()
  if (run.status === 'CANCELLED') metrics.runsCancelled.inc()
}

function fields(run: Reclaimed) {
  const { runId, payloadHash, workerId, status, attempt, queue } = run
  return runFields({ runId, payloadHash, workerId, status, attemptCount: attempt, queue, executor: run.executor })
}
