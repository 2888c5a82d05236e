/** What a failure means for the run, and what a person can do about it. */

import type { Run } from '@holdfast/client'

export type ErrorHint = { meaning: string; next: string }

type Act = 'retry' | 'edit' | 'log' | 'worker'

/** What is known of errors that Holdfast itself gives; those of models speak for themselves. */
const KNOWN: Record<string, { because: string; act: Act }> = {
  WorkerLost: {
    because: 'The worker died, froze or lost its connection; this need not be the fault of the run.',
    act: 'worker',
  },
  JobLost: { because: 'The engine no longer knows the job of this attempt.', act: 'worker' },
  ProcessCrashed: { because: 'The process of the attempt ended before it could answer.', act: 'log' },
  ProcessNotStarted: { because: 'The worker could not start a process.', act: 'worker' },
  OutOfMemory: { because: 'The attempt needed more memory than there is.', act: 'edit' },
  MemoryLimit: { because: 'The attempt used more memory than its limit allows.', act: 'edit' },
  Timeout: { because: 'The attempt took longer than it may.', act: 'edit' },
  StepTimeout: { because: 'A step took longer than it may.', act: 'edit' },
  ResultTooLarge: { because: 'The result is larger than results may be.', act: 'edit' },
  ResultNotJson: { because: 'What the model answered is not JSON: its program has to be corrected.', act: 'log' },
  InputFileUnavailable: { because: 'A file among the parameters could not be fetched.', act: 'retry' },
  InputFileDamaged: { because: 'The stored copy of a file among the parameters is damaged.', act: 'edit' },
  RetryError: { because: 'A step failed as often as it may be tried.', act: 'retry' },
}

const ACTS: Record<Act, string> = {
  retry: 'Retry it when the reason is gone.',
  edit: 'Edit the parameters and run it again.',
  log: 'Look at the log of the attempt, then retry it or edit its parameters.',
  worker: 'Look at its worker; a retry is safe.',
}

/** Null for a run without an error. */
export function errorHint(run: Run): ErrorHint | null {
  const { last_error: error, status } = run
  if (error === null || status === 'SUCCEEDED') return null
  const known = Object.hasOwn(KNOWN, error.class) ? KNOWN[error.class] : undefined
  const meaning = [known?.because, whatNow(run)].filter(Boolean).join(' ')
  if (status === 'PENDING' || status === 'RUNNING') return { meaning, next: 'There is nothing to do but wait.' }
  if (status === 'CANCELLED') return { meaning, next: 'Retry it if it is wanted after all.' }
  if (known) return { meaning, next: ACTS[known.act] }
  return { meaning, next: isOutOfAttempts(run) ? ACTS.log : ACTS.edit }
}

function whatNow(run: Run): string {
  const { status, last_error: error, max_attempts: max } = run
  const left = max - countedAttempts(run)
  if (status === 'PENDING')
    return `Attempt ${error!.attempt} failed; the next one comes by itself (${leftWords(left)}).`
  if (status === 'RUNNING') return `Attempt ${error!.attempt} failed; attempt ${run.attempt_count} is running.`
  if (status === 'CANCELLED') return 'The run was cancelled.'
  if (!isOutOfAttempts(run)) return 'Errors of this kind are not tried again by themselves.'
  return max === 1 ? 'Its only attempt failed.' : `All ${max} attempts were used up.`
}

/** Attempts that were given back at a shutdown do not count. */
function countedAttempts({ attempts, attempt_count }: Run): number {
  return attempt_count - (attempts ?? []).filter(({ state }) => state === 'RELEASED').length
}

function isOutOfAttempts(run: Run): boolean {
  return countedAttempts(run) >= run.max_attempts
}

function leftWords(left: number): string {
  if (left <= 0) return 'none is left after it'
  return left === 1 ? '1 attempt is left' : `${left} attempts are left`
}
