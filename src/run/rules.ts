/**
 * One run as a pure value, and what may be done to it: the rules of the store in a form to read and to test the store
 * against.
 *
 * Every function returns a new run or says why it refuses; times come in as arguments. Each accepted change adds one
 * event, except a heartbeat. An expired lease takes nothing from its holder until the run is reclaimed; a new epoch
 * does.
 */

import type { AttemptState, RunStatus } from './status.ts'
import { nextRun, type RunEvent } from './transition.ts'

export type Run = {
  status: RunStatus
  attemptCount: number
  releaseCount: number
  maxAttempts: number
  leaseEpoch: number
  leaseOwner: string | null
  leaseExpiresAtMs: number | null
  cancelRequested: boolean
  availableAtMs: number
  eventSeq: number
  /** The states of attempts 1..n; at most the last is open. */
  attempts: AttemptState[]
  /** Whether an engine has the last attempt. */
  handedOver: boolean
  resultHash: string | null
}

export type Change = { ok: true; run: Run } | { ok: false; why: string }

export type SettleKind = 'succeed' | 'fail' | 'retry' | 'cancel' | 'release' | 'lost'

/** A run as submitted, with its first event. */
export function submitted(input: { nowMs: number; maxAttempts: number; availableAtMs?: number }): Run {
  return {
    status: 'PENDING',
    attemptCount: 0,
    releaseCount: 0,
    maxAttempts: input.maxAttempts,
    leaseEpoch: 0,
    leaseOwner: null,
    leaseExpiresAtMs: null,
    cancelRequested: false,
    availableAtMs: input.availableAtMs ?? input.nowMs,
    eventSeq: 1,
    attempts: [],
    handedOver: false,
    resultHash: null,
  }
}

/** `engine`: the work will be handed to one, and its attempt is SUBMITTED until a sign of life. */
export function claim(run: Run, input: { worker: string; nowMs: number; leaseMs: number; engine?: boolean }): Change {
  if (run.status === 'PENDING' && run.availableAtMs > input.nowMs) return refused('the run is not available yet')
  const claimed = apply(run, 'claim', {
    attemptCount: run.attemptCount + 1,
    leaseEpoch: run.leaseEpoch + 1,
    leaseOwner: input.worker,
    leaseExpiresAtMs: input.nowMs + input.leaseMs,
    attempts: [...run.attempts, 'SUBMITTED'],
    handedOver: false,
  })
  if (!claimed.ok || !input.engine) return claimed
  return { ok: true, run: { ...claimed.run, attempts: [...run.attempts, 'SUBMITTED'] } }
}

/** The holder notes where an engine has the attempt. Only such an attempt can be adopted. */
export function handOver(run: Run, input: { epoch: number }): Change {
  if (isStale(run, input.epoch)) return refused(staleReason(run, input.epoch))
  return { ok: true, run: { ...run, handedOver: true, eventSeq: run.eventSeq + 1 } }
}

/** The first sign of life of an engine's job. Later ones change nothing. */
export function showLife(run: Run, input: { epoch: number }): Change {
  if (isStale(run, input.epoch)) return refused(staleReason(run, input.epoch))
  if (run.attempts.at(-1) !== 'SUBMITTED') return { ok: true, run }
  const attempts = [...run.attempts.slice(0, -1), 'RUNNING' as const]
  return { ok: true, run: { ...run, attempts, eventSeq: run.eventSeq + 1 } }
}

/** Takes the expired lease of work that an engine has: a new epoch, the same attempt. */
export function adopt(run: Run, input: { worker: string; nowMs: number; leaseMs: number }): Change {
  if (run.leaseExpiresAtMs !== null && run.leaseExpiresAtMs >= input.nowMs) return refused('the lease is still valid')
  if (run.status === 'RUNNING' && !run.handedOver) return refused('no engine has the attempt')
  return apply(run, 'adopt', {
    leaseEpoch: run.leaseEpoch + 1,
    leaseOwner: input.worker,
    leaseExpiresAtMs: input.nowMs + input.leaseMs,
  })
}

/** The holder ends its lease of an engine's attempt early, so that another may adopt it. */
export function letGo(run: Run, input: { epoch: number; nowMs: number }): Change {
  if (isStale(run, input.epoch)) return refused(staleReason(run, input.epoch))
  if (!run.handedOver) return refused('no engine has the attempt')
  return { ok: true, run: { ...run, leaseExpiresAtMs: Math.min(run.leaseExpiresAtMs ?? 0, input.nowMs) } }
}

/** Extends the lease, never shortens it. The holder reads from the answer whether a cancel is requested. */
export function beat(run: Run, input: { worker: string; epoch: number; nowMs: number; leaseMs: number }): Change {
  if (isStale(run, input.epoch)) return refused(staleReason(run, input.epoch))
  if (run.leaseOwner !== input.worker) return refused(`the lease belongs to ${run.leaseOwner}`)
  const leaseExpiresAtMs = Math.max(run.leaseExpiresAtMs ?? 0, input.nowMs + input.leaseMs)
  return apply(run, 'beat', { leaseExpiresAtMs, eventSeq: run.eventSeq })
}

/** Ends the open attempt. A settle with an old epoch, or of a run that is not RUNNING, is stale and changes nothing. */
export function settle(
  run: Run,
  input: { epoch: number; kind: SettleKind; nowMs: number; delayMs?: number; resultHash?: string },
): Change {
  if (isStale(run, input.epoch)) return refused(staleReason(run, input.epoch))
  switch (input.kind) {
    case 'succeed':
      return apply(run, 'succeed', { resultHash: input.resultHash ?? null })
    case 'fail':
      return apply(run, 'fail', {})
    case 'retry':
      return apply(run, 'retry', {}, { availableAtMs: input.nowMs + (input.delayMs ?? 0) })
    case 'cancel':
      return apply(run, 'confirm_cancel', {})
    case 'release':
      return apply(run, 'release', { releaseCount: run.releaseCount + 1 })
    case 'lost':
      return apply(run, 'lose', {}, { availableAtMs: input.nowMs })
  }
}

/** A stale settle changes nothing of a run, but the record says that it came: one event, also on a finished run. */
export function noteLateResult(run: Run): Run {
  return { ...run, eventSeq: run.eventSeq + 1 }
}

/** What an engine has is left to be adopted for a while after its lease expired. */
export function reclaim(run: Run, input: { nowMs: number; adoptMs?: number }): Change {
  const patienceMs = run.handedOver ? (input.adoptMs ?? 0) : 0
  if (run.leaseExpiresAtMs !== null && run.leaseExpiresAtMs + patienceMs >= input.nowMs)
    return refused('the lease is still valid')
  return apply(run, 'reclaim', {}, { availableAtMs: input.nowMs })
}

/** Asking again while the run is being cancelled is accepted and changes nothing. */
export function requestCancel(run: Run, _input: { nowMs: number }): Change {
  if (run.status === 'RUNNING' && run.cancelRequested) return { ok: true, run }
  return apply(run, 'cancel', { cancelRequested: true })
}

/** Puts the change on the run by the table; `whenPending` is put on top when the run goes back to PENDING. */
function apply(run: Run, event: RunEvent, change: Partial<Run>, whenPending: Partial<Run> = {}): Change {
  const attemptsLeft = run.attemptCount - run.releaseCount < run.maxAttempts
  const next = nextRun(event, run.status, { cancelRequested: run.cancelRequested, attemptsLeft })
  if (!next.ok) return next
  const changed = { ...run, eventSeq: run.eventSeq + 1, ...change, status: next.status }
  if (next.attempt !== null) changed.attempts = [...changed.attempts.slice(0, -1), next.attempt]
  if (next.status === 'RUNNING') return { ok: true, run: changed }
  const ended = { ...changed, leaseOwner: null, leaseExpiresAtMs: null }
  return { ok: true, run: next.status === 'PENDING' ? { ...ended, ...whenPending } : ended }
}

function isStale(run: Run, epoch: number): boolean {
  return run.status !== 'RUNNING' || run.leaseEpoch !== epoch
}

function staleReason(run: Run, epoch: number): string {
  if (run.status !== 'RUNNING') return `the run is ${run.status}`
  return `lease epoch ${epoch} is over, the run is at ${run.leaseEpoch}`
}

function refused(why: string): Change {
  return { ok: false, why }
}
