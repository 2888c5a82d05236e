/** Pure: what an outcome means for the run. Whether a retry follows is the policy's word; a cancel that was asked for wins over a retry. */

import type { AbortReason, AttemptError, Outcome } from '../executor/executor.ts'
import { decideRetry, type RetryPolicy } from '../run/retry.ts'
import type { Lease, SettleKind } from '../store/store.ts'

export type Verdict =
  | { kind: Exclude<SettleKind, 'succeed'>; error?: AttemptError; delaySeconds?: number }
  | { kind: 'succeed'; resultText: string }
  /** Nothing may be written: the lease is gone, or the executor cannot tell and the lease decides. */
  | { kind: 'nothing'; why: string }

export function classify(
  outcome: Outcome,
  facts: { lease: Lease; policy: () => RetryPolicy; asked: AbortReason | null; random: number },
): Verdict {
  const { lease, policy, asked, random } = facts
  if (asked === 'lease-lost') return { kind: 'nothing', why: 'the lease was lost' }
  // A success stands, whatever was asked for meanwhile.
  if (outcome.status === 'succeeded') return { kind: 'succeed', resultText: outcome.resultText }
  if (outcome.status === 'unreachable') return { kind: 'nothing', why: outcome.reason }
  if (outcome.status === 'lost') {
    return { kind: 'lost', error: { class: 'JobLost', message: outcome.reason, stack: null } }
  }
  if (outcome.status === 'cancelled') {
    if (asked === 'cancelled') return { kind: 'cancel' }
    return { kind: 'release' }
  }
  const { error } = outcome
  if (error.retryable !== false && asked === 'cancelled') return { kind: 'cancel', error }
  if (error.retryable !== false && asked === 'shutdown') return { kind: 'release', error }
  const countedAttempts = lease.attempt - lease.releaseCount
  const decision = decideRetry({ policy: policy(), error, countedAttempts, maxAttempts: lease.maxAttempts, random })
  return decision.retry ? { kind: 'retry', error, delaySeconds: decision.delaySeconds } : { kind: 'fail', error }
}
