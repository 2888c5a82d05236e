/**
 * Pure: what a Job and its pods say about the attempt.
 *
 * The Job's conditions Complete and Failed say that it is over; its pod says why. A Job that was deleted away from over its pods is read by them
 * alone. What the program itself said of its end, by its callback, is not looked at here and goes before all of this.
 */

import { ownError } from '../model/attempt-error.ts'
import { abortedOutcome } from '../model/run-attempt.ts'
import type { AttemptError, Outcome } from './executor.ts'
import { CONTAINER } from './kubernetes-job.ts'
import type { Condition, ContainerStatus, Job, Pod } from './kubernetes-objects.ts'
import { outcomeFromMessage } from './kubernetes-outcome.ts'

export type Facts = { job: Job | null; pods: Pod[] }

export type Verdict =
  /** Neither Job nor pod: it was never made, or somebody deleted it. */
  | { phase: 'missing' }
  /** `stuck`: it will not start by itself, unless somebody mends it within the grace. `needsTicket`: that may be the Secret's absence. */
  | { phase: 'waiting'; why: string; stuck: AttemptError | null; hopeless?: boolean; needsTicket?: boolean }
  | { phase: 'running'; pod: string }
  | { phase: 'ended'; pod: string | null; outcome: Outcome }

const IMAGE_REASONS = ['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull', 'InvalidImageName', 'ImageInspectError']
const CONFIG_REASONS = ['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']

export function verdictOf({ job, pods }: Facts, timeoutMs: number): Verdict {
  // Who deletes a Job ends its pods: that they failed then says nothing about what ran in them.
  const pod = currentPod(job ? pods : pods.filter((one) => !wasDeletedAndFailed(one)))
  if (job === null && pod === null) return { phase: 'missing' }
  const failed = conditionOf(job?.status?.conditions, 'Failed')
  if (failed) return { phase: 'ended', pod: pod?.metadata.name ?? null, outcome: failure(failed, pod, timeoutMs) }
  if (conditionOf(job?.status?.conditions, 'Complete')) return completed(pod)
  if (job === null && pod?.status?.phase === 'Succeeded') return completed(pod)
  if (job === null && pod?.status?.phase === 'Failed') {
    return { phase: 'ended', pod: pod.metadata.name, outcome: { status: 'failed', error: podError(pod) } }
  }
  const state = containerOf(pod)?.state
  if (pod && (state?.running || state?.terminated || isOver(pod))) return { phase: 'running', pod: pod.metadata.name }
  return waiting(job, pod)
}

/** Containers of it may still run: it has not ended, and nobody has confirmed that it never began. */
export function mayRun(pod: Pod): boolean {
  return !isOver(pod)
}

function wasDeletedAndFailed({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && status?.phase === 'Failed'
}

function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** There is one, unless Kubernetes has replaced it: then the one that runs, else the latest. */
function currentPod(pods: Pod[]): Pod | null {
  const latest = pods.toSorted((a, b) =>
    (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? ''),
  )
  return latest.find((pod) => containerOf(pod)?.state?.running) ?? latest[0] ?? null
}

function containerOf(pod: Pod | null): ContainerStatus | undefined {
  return pod?.status?.containerStatuses?.find(({ name }) => name === CONTAINER)
}

function conditionOf(conditions: Condition[] = [], type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === 'True')
}

function completed(pod: Pod | null): Verdict {
  const message = containerOf(pod)?.state?.terminated?.message
  const said = message === undefined ? null : outcomeFromMessage(message)
  const noOutcome = ownError('NoOutcome', 'the Job is complete, but its program has not said with which result')
  const outcome: Outcome = said ?? { status: 'failed', error: noOutcome }
  return { phase: 'ended', pod: pod?.metadata.name ?? null, outcome }
}

function failure(failed: Condition, pod: Pod | null, timeoutMs: number): Outcome {
  if (failed.reason === 'DeadlineExceeded') return abortedOutcome('timeout', timeoutMs, ' and Kubernetes ended it')
  if (pod) return { status: 'failed', error: podError(pod), ...costOf(pod) }
  const why = [failed.reason, failed.message].filter(Boolean).join(': ')
  const message = `Kubernetes ended the Job and no pod of it is left to tell more${why && ` (${why})`}`
  return { status: 'failed', error: ownError('PodLost', message, { retryable: true }) }
}

/** What its program said it cost, however it ended. */
function costOf(pod: Pod): { cost?: number } {
  const message = containerOf(pod)?.state?.terminated?.message
  const said = message === undefined ? null : outcomeFromMessage(message)
  return said?.status === 'failed' && said.cost !== undefined ? { cost: said.cost } : {}
}

/** Why a pod ended that did not succeed. What its surroundings did to it comes before how its process took that. */
function podError(pod: Pod): AttemptError {
  const { status } = pod
  const terminated = containerOf(pod)?.state?.terminated
  const exitCode = terminated?.exitCode ?? null
  const disruption = conditionOf(status?.conditions, 'DisruptionTarget')
  if (disruption || status?.reason === 'Evicted' || status?.reason === 'Preempting') {
    const why = [disruption?.reason ?? status?.reason, disruption?.message ?? status?.message].filter(Boolean)
    return ownError('PodEvicted', `the pod was evicted: ${why.join(': ')}`, { retryable: true, exitCode })
  }
  if (terminated?.reason === 'OOMKilled') {
    const message = 'the container used more memory than its limit and was killed; raise resources.limits.memory'
    return ownError('OutOfMemory', message, { exitCode })
  }
  if (!terminated) {
    const why = [status?.reason, status?.message].filter(Boolean).join(': ') || 'Kubernetes does not say why'
    return ownError('PodFailed', `the pod failed: ${why}`, { retryable: true })
  }
  const said = terminated.message === undefined ? null : outcomeFromMessage(terminated.message)
  if (said?.status === 'failed') return { ...said.error, exitCode }
  const tail = terminated.message?.trim()
  const rest = tail ? `\n${tail}` : ''
  if (terminated.reason === 'StartError' || terminated.reason === 'ContainerCannotRun') {
    return ownError('ContainerNotStarted', `the container could not be started${rest}`, { exitCode })
  }
  const ended =
    exitCode !== null && exitCode > 128 ? `exit code ${exitCode} (signal ${exitCode - 128})` : `exit code ${exitCode}`
  return ownError('ContainerFailed', `the container ended with ${ended}${rest}`, { exitCode })
}

function waiting(job: Job | null, pod: Pod | null): Verdict {
  if (job?.spec?.suspend)
    return { phase: 'waiting', why: 'the Job is suspended; its queue has not admitted it yet', stuck: null }
  if (pod === null) return { phase: 'waiting', why: 'the Job has no pod yet', stuck: null }
  const { reason = '', message = '' } = containerOf(pod)?.state?.waiting ?? {}
  const what = [reason, message].filter(Boolean).join(': ')
  if (IMAGE_REASONS.includes(reason)) {
    const stuck = ownError('ImagePullFailed', `the image cannot be had: ${what}`)
    return { phase: 'waiting', why: what, stuck, hopeless: reason === 'InvalidImageName' }
  }
  if (CONFIG_REASONS.includes(reason)) {
    const stuck = ownError('ContainerNotStarted', `the container cannot be made: ${what}`)
    return { phase: 'waiting', why: what, stuck, needsTicket: reason === 'CreateContainerConfigError' }
  }
  const unscheduled = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
  const place = unscheduled && [unscheduled.reason, unscheduled.message].filter(Boolean).join(': ')
  return { phase: 'waiting', why: place || what || 'the pod has not started yet', stuck: null }
}
