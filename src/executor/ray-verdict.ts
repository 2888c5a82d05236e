/** Pure: what the state of a Ray job says about its attempt, when the job itself has said nothing. */

import { ownError } from '../model/attempt-error.ts'
import type { Outcome } from './executor.ts'
import type { RayJob } from './ray-client.ts'

export type RayVerdict =
  | { kind: 'going-on' }
  /** It ended and should have left an outcome; `otherwise` is what holds when it left none. */
  | { kind: 'ended'; otherwise: Outcome }
  /** Ray lost sight of it. That is no proof: the code may run on, or may have ended well. */
  | { kind: 'doubtful'; reason: string; otherwise: Outcome }

/** Failures of Ray's own before anything of the user's ran. */
const NOT_STARTED = new Set([
  'JOB_SUPERVISOR_ACTOR_START_TIMEOUT',
  'JOB_SUPERVISOR_ACTOR_START_FAILURE',
  'JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE',
])
const ENTRYPOINT_FAILED = new Set(['JOB_ENTRYPOINT_COMMAND_ERROR', 'JOB_ENTRYPOINT_COMMAND_START_ERROR'])

export function verdictOf(job: RayJob, everRan: boolean): RayVerdict {
  const { status, message } = job
  const type = job.error_type ?? 'no error type'
  const said = message ? `: ${message}` : ''
  if (status === 'PENDING' || status === 'RUNNING') return { kind: 'going-on' }
  if (status === 'SUCCEEDED') {
    return ended(
      'NoOutcome',
      'the job ended well by its exit code but said nothing of its result, neither to the service nor in its log',
    )
  }
  if (status === 'STOPPED') return ended('RayJobStopped', 'somebody stopped the job on the cluster')
  const exitCode = job.driver_exit_code ?? null
  if (ENTRYPOINT_FAILED.has(type)) {
    return ended('RayJobFailed', `the job's program ended without an outcome, exit code ${exitCode}${said}`, exitCode)
  }
  if (type === 'RUNTIME_ENV_SETUP_FAILURE')
    return ended('RuntimeEnvFailed', `Ray could not set up the runtime environment${said}`)
  const reason = `Ray says FAILED (${type})${said}`
  const notStarted = NOT_STARTED.has(type) && !everRan
  const otherwise: Outcome = notStarted
    ? { status: 'failed', error: ownError('RayNotStarted', `Ray did not start the job (${type})${said}`) }
    : { status: 'lost', reason }
  return { kind: 'doubtful', reason, otherwise }
}

function ended(className: string, message: string, exitCode?: number | null): RayVerdict {
  const error = ownError(className, message, exitCode === undefined ? {} : { exitCode })
  return { kind: 'ended', otherwise: { status: 'failed', error } }
}
