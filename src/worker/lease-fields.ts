/** What every line of the log says about the run of a lease. */

import type { Lease } from '../store/store.ts'
import { runFields } from '../telemetry/log.ts'

export function leaseFields(lease: Lease, workerId: string, status: string): ReturnType<typeof runFields> {
  const { runId, payloadHash, attempt, queue, executor } = lease
  return runFields({ runId, payloadHash, workerId, status, attemptCount: attempt, queue, executor })
}
