/**
 * The one table of what may happen to a run and to an attempt. The database repeats it, `docs/run-lifecycle.md` draws
 * it.
 *
 * Rows of one event are tried from the top and the first whose condition holds decides, so a requested cancel wins
 * over used-up attempts. No row leaves a terminal state.
 */

import { type AttemptState, isTerminal, type RunStatus } from './status.ts'

export const RUN_EVENTS = [
  'claim',
  'beat',
  'adopt',
  'succeed',
  'fail',
  'retry',
  'release',
  'lose',
  'reclaim',
  'cancel',
  'confirm_cancel',
] as const
export type RunEvent = (typeof RUN_EVENTS)[number]

export type Condition = 'cancel requested' | 'attempts left' | 'attempts used up'

/** What the conditions look at. Attempts are left while `attempt_count - release_count` is below `max_attempts`. */
export type RunFacts = { cancelRequested: boolean; attemptsLeft: boolean }

export type RunTransition = {
  event: RunEvent
  from: RunStatus
  /** Without one the row always holds. */
  when: Condition | null
  to: RunStatus
  /**
   * The state the run's open attempt takes; null leaves it as it is. For a claim it is the state of the new attempt.
   */
  attempt: AttemptState | null
}

const row = (
  event: RunEvent,
  from: RunStatus,
  to: RunStatus,
  attempt: AttemptState | null,
  when: Condition | null = null,
): RunTransition => ({ event, from, when, to, attempt })

export const RUN_TRANSITIONS: readonly RunTransition[] = [
  row('claim', 'PENDING', 'RUNNING', 'RUNNING'),
  row('beat', 'RUNNING', 'RUNNING', null),
  row('adopt', 'RUNNING', 'RUNNING', null),
  row('succeed', 'RUNNING', 'SUCCEEDED', 'SUCCEEDED'),
  row('fail', 'RUNNING', 'FAILED', 'FAILED'),
  row('retry', 'RUNNING', 'CANCELLED', 'FAILED', 'cancel requested'),
  row('retry', 'RUNNING', 'PENDING', 'FAILED', 'attempts left'),
  row('retry', 'RUNNING', 'FAILED', 'FAILED', 'attempts used up'),
  row('release', 'RUNNING', 'CANCELLED', 'RELEASED', 'cancel requested'),
  row('release', 'RUNNING', 'PENDING', 'RELEASED'),
  row('lose', 'RUNNING', 'CANCELLED', 'LOST', 'cancel requested'),
  row('lose', 'RUNNING', 'PENDING', 'LOST', 'attempts left'),
  row('lose', 'RUNNING', 'FAILED', 'LOST', 'attempts used up'),
  row('reclaim', 'RUNNING', 'CANCELLED', 'LOST', 'cancel requested'),
  row('reclaim', 'RUNNING', 'PENDING', 'LOST', 'attempts left'),
  row('reclaim', 'RUNNING', 'FAILED', 'LOST', 'attempts used up'),
  row('cancel', 'PENDING', 'CANCELLED', null),
  row('cancel', 'RUNNING', 'RUNNING', null),
  row('confirm_cancel', 'RUNNING', 'CANCELLED', 'CANCELLED'),
]

export type NextRun = { ok: true; status: RunStatus; attempt: AttemptState | null } | { ok: false; why: string }

export function nextRun(event: RunEvent, from: RunStatus, facts: RunFacts): NextRun {
  for (const { event: named, from: start, when, to, attempt } of RUN_TRANSITIONS) {
    if (named === event && start === from && holds(when, facts)) return { ok: true, status: to, attempt }
  }
  return { ok: false, why: whyNot(event, from) }
}

function holds(when: Condition | null, facts: RunFacts): boolean {
  if (when === null) return true
  if (when === 'cancel requested') return facts.cancelRequested
  return facts.attemptsLeft === (when === 'attempts left')
}

function whyNot(event: RunEvent, from: RunStatus): string {
  if (isTerminal(from)) return `a ${from} run is final`
  if (from === 'RUNNING') return 'a RUNNING run is leased already'
  return `a PENDING run has no attempt that could ${event === 'confirm_cancel' ? 'confirm a cancel' : event}`
}

/** An engine's job may end before its first sign of life arrives, so every end can follow SUBMITTED directly. */
export const ATTEMPT_TRANSITIONS: Readonly<Record<AttemptState, readonly AttemptState[]>> = {
  SUBMITTED: ['RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'LOST', 'RELEASED'],
  RUNNING: ['SUCCEEDED', 'FAILED', 'CANCELLED', 'LOST', 'RELEASED'],
  SUCCEEDED: [],
  FAILED: [],
  CANCELLED: [],
  LOST: [],
  RELEASED: [],
}

export function mayAttemptBecome(from: AttemptState, to: AttemptState): boolean {
  return ATTEMPT_TRANSITIONS[from].includes(to)
}
