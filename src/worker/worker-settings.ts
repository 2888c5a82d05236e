/** The settings of a worker. */

import type { RetryPolicyInput } from '../run/retry.ts'
import type { QueueLimit } from './slots.ts'

export type WorkerSettings = {
  queues: QueueLimit[]
  concurrency: number
  leaseMs: number
  pollMs: number
  janitorMs: number
  shutdownGraceMs: number
  cancelGraceMs: number
  cancelConfirmMs: number
  deadlineGraceMs: number
  loopSilenceMs: number
  /** How long expired leases of work in engines are left to be adopted. */
  adoptMs?: number
  /** How much of what an attempt prints is kept, and for how long; for ever without a time. */
  logBytesMax?: number
  logKeepMs?: number | null
  retry: RetryPolicyInput
  /** Words that make the name of a parameter sensitive; the usual ones when not given. */
  redactWords?: readonly string[]
}
