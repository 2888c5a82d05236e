/** Counts and logs the end of an attempt that this process settled, as our workers do of theirs. */

import type { RunStatus } from '../run/status.ts'
import type { OpenAttempt } from '../store/ports/attempts.ts'
import type { SettleKind, Settlement } from '../store/store.ts'
import { runFields } from '../telemetry/log.ts'
import type { ApiDeps } from './api.ts'

const ENDED: Record<SettleKind, { state: 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | 'LOST' | 'RELEASED'; said: string }> = {
  succeed: { state: 'SUCCEEDED', said: 'run succeeded' },
  fail: { state: 'FAILED', said: 'run failed' },
  retry: { state: 'FAILED', said: 'attempt failed; a retry is scheduled' },
  lost: { state: 'LOST', said: 'attempt lost' },
  cancel: { state: 'CANCELLED', said: 'run cancelled' },
  release: { state: 'RELEASED', said: 'run released for another worker' },
}

export function announceEnd(
  { metrics, log }: Pick<ApiDeps, 'metrics' | 'log'>,
  open: OpenAttempt,
  { kind, error, delaySeconds }: Settlement,
  status: RunStatus,
): void {
  const { state, said } = ENDED[kind]
  metrics.attempts.inc(state)
  if (status === 'SUCCEEDED') metrics.runsSucceeded.inc()
  else if (status === 'FAILED') metrics.runsFailed.inc()
  else if (status === 'CANCELLED') metrics.runsCancelled.inc()
  metrics.runDuration.observe(open.model, open.startedSeconds)
  const { runId, payloadHash, holder: workerId, attempt: attemptCount, queue, executor } = open
  const fields = runFields({ runId, payloadHash, workerId, status, attemptCount, queue, executor })
  if (kind === 'succeed') log.info({ ...fields, duration_seconds: open.startedSeconds }, said)
  else log.warn({ error_class: error?.class, error: error?.message, delay_seconds: delaySeconds, ...fields }, said)
}
