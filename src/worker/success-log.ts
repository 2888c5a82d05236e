/**
 * The line that says that a run succeeded, which nearly every run has. What all such lines of a queue and an executor share is put into text once,
 * so that a line costs half.
 */

import type { Lease } from '../store/store.ts'
import { type Log, withFields } from '../telemetry/log.ts'

type SucceededRun = Pick<Lease, 'runId' | 'payloadHash' | 'attempt' | 'queue' | 'executor'>

export type SuccessLog = (run: SucceededRun, durationSeconds: number) => void

export function createSuccessLog(log: Log, workerId: string): SuccessLog {
  const byQueue = new Map<string, Map<string, Log>>()

  function logOf({ queue, executor }: SucceededRun): Log {
    const byExecutor = byQueue.get(queue) ?? new Map<string, Log>()
    const known = byExecutor.get(executor)
    if (known) return known
    const added = withFields(log, { worker_id: workerId, status: 'SUCCEEDED', queue, executor })
    byQueue.set(queue, byExecutor.set(executor, added))
    return added
  }

  return (run, durationSeconds) => {
    const { runId, payloadHash, attempt } = run
    const fields = {
      run_id: runId,
      payload_hash: payloadHash,
      attempt_count: attempt,
      duration_seconds: durationSeconds,
    }
    logOf(run).info(fields, 'run succeeded')
  }
}
