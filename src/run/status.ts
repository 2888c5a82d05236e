/** The states of a run and of an attempt. `transition.ts` says how one may follow another. */

export const RUN_STATUSES = ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export const TERMINAL_STATUSES = ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number]

export const ATTEMPT_STATES = ['SUBMITTED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'LOST', 'RELEASED'] as const
export type AttemptState = (typeof ATTEMPT_STATES)[number]

export function isTerminal(status: RunStatus): status is TerminalStatus {
  return status !== 'PENDING' && status !== 'RUNNING'
}
