import { describe, expect, it } from 'vitest'
import type { Job, Pod } from './kubernetes-objects.ts'
import { mayRun, verdictOf } from './kubernetes-verdict.ts'

type Status = NonNullable<Pod['status']>
type State = NonNullable<NonNullable<Status['containerStatuses']>[number]['state']>

const OPEN: Job = { metadata: { name: 'one' } }

function jobWith(type: string, reason = ''): Job {
  return { metadata: { name: 'one' }, status: { conditions: [{ type, status: 'True', reason, message: 'a message' }] } }
}

function podWith(state: State, status: Status = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    metadata: { name: 'one-abc', ...metadata },
    status: { phase: 'Pending', containerStatuses: [{ name: 'run', state }], ...status },
  }
}

const verdict = (job: Job | null, ...pods: Pod[]) => verdictOf({ job, pods }, 60_000)

function errorOf(job: Job | null, ...pods: Pod[]) {
  const found = verdict(job, ...pods)
  if (found.phase !== 'ended' || found.outcome.status !== 'failed') throw new Error(JSON.stringify(found))
  return found.outcome.error
}

describe('what a Job and its pods say', () => {
  it('nothing at all: it is missing', () => {
    expect(verdict(null)).toEqual({ phase: 'missing' })
  })

  it('before its end: waiting, then running', () => {
    expect(verdict(OPEN)).toMatchObject({ phase: 'waiting', stuck: null })
    expect(verdict(OPEN, podWith({ waiting: { reason: 'ContainerCreating' } }))).toMatchObject({ phase: 'waiting' })
    expect(verdict(OPEN, podWith({ running: {} }, { phase: 'Running' }))).toEqual({ phase: 'running', pod: 'one-abc' })
  })

  it('FailureTarget is not the end yet: pods may still be ending', () => {
    expect(verdict(jobWith('FailureTarget'), podWith({ running: {} }))).toMatchObject({ phase: 'running' })
  })

  it('a suspended Job waits, whatever is left of an earlier pod', () => {
    expect(verdict({ ...OPEN, spec: { suspend: true } })).toMatchObject({
      phase: 'waiting',
      why: expect.stringContaining('suspended'),
    })
  })

  it('a pod that finds no node says why', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }]
    const pod: Pod = { metadata: { name: 'one-abc' }, status: { phase: 'Pending', conditions } }
    expect(verdict(OPEN, pod)).toMatchObject({ phase: 'waiting', why: 'Unschedulable: 0/3 nodes', stuck: null })
  })

  it.each([
    ['ErrImagePull', 'ImagePullFailed', false],
    ['ImagePullBackOff', 'ImagePullFailed', false],
    ['ErrImageNeverPull', 'ImagePullFailed', false],
    ['InvalidImageName', 'ImagePullFailed', true],
  ])('%s is %s', (reason, className, hopeless) => {
    const found = verdict(OPEN, podWith({ waiting: { reason, message: 'why' } }))
    expect(found).toMatchObject({ phase: 'waiting', stuck: { class: className }, hopeless })
  })

  it.each(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'])('%s is stuck', (reason) => {
    const found = verdict(OPEN, podWith({ waiting: { reason, message: 'why' } }))
    expect(found).toMatchObject({ stuck: { class: 'ContainerNotStarted', message: expect.stringContaining('why') } })
    expect(found).toHaveProperty('needsTicket', reason === 'CreateContainerConfigError')
  })
})

describe('how it ended', () => {
  const failed = jobWith('Failed', 'BackoffLimitExceeded')

  it.each([
    [{ exitCode: 137, reason: 'OOMKilled' }, {}, { class: 'OutOfMemory', exitCode: 137 }],
    [{ exitCode: 137, reason: 'Error' }, { reason: 'Evicted' }, { class: 'PodEvicted', retryable: true }],
    [{ exitCode: 2, reason: 'Error' }, {}, { class: 'ContainerFailed', exitCode: 2 }],
    [{ exitCode: 128, reason: 'StartError', message: 'no such file' }, {}, { class: 'ContainerNotStarted' }],
    [{ exitCode: 139, reason: 'Error' }, {}, { message: expect.stringContaining('signal 11') }],
  ])('%j with %j', (terminated, status, error) => {
    expect(errorOf(failed, podWith({ terminated }, { phase: 'Failed', ...status }))).toMatchObject(error)
  })

  it.each(['PreemptionByScheduler', 'EvictionByEvictionAPI', 'DeletionByTaintManager'])('%s is retryable', (reason) => {
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason, message: 'needed elsewhere' }]
    const pod = podWith({ terminated: { exitCode: 137 } }, { phase: 'Failed', conditions })
    expect(errorOf(failed, pod)).toMatchObject({ class: 'PodEvicted', retryable: true })
  })

  it('at the deadline it has timed out, however its process took that', () => {
    const pod = podWith({ terminated: { exitCode: 137, reason: 'OOMKilled' } }, { phase: 'Failed' })
    expect(errorOf(jobWith('Failed', 'DeadlineExceeded'), pod)).toMatchObject({ class: 'Timeout' })
  })

  it('without a pod to ask, the Job has the word', () => {
    expect(errorOf(failed)).toMatchObject({
      class: 'PodLost',
      message: expect.stringContaining('BackoffLimitExceeded'),
    })
  })

  it('with the error the program left, and its exit code', () => {
    const message = JSON.stringify({ ok: false, error: { class: 'ValueError', message: 'bad', retryable: false } })
    const pod = podWith({ terminated: { exitCode: 1, message } }, { phase: 'Failed' })
    expect(errorOf(failed, pod)).toEqual({
      class: 'ValueError',
      message: 'bad',
      stack: null,
      retryable: false,
      exitCode: 1,
    })
  })

  it('a success that the program left does not outweigh its exit code', () => {
    const pod = podWith({ terminated: { exitCode: 1, message: '{"ok":true,"result":1}' } }, { phase: 'Failed' })
    expect(errorOf(failed, pod)).toMatchObject({ class: 'ContainerFailed' })
  })

  it.each(['{"ok":true}', '{"ok":true,"result":1e400}', 'done', '{"ok":true,"result":1', '[]'])(
    'complete with %s is no outcome',
    (message) => {
      const pod = podWith({ terminated: { exitCode: 0, message } }, { phase: 'Succeeded' })
      expect(errorOf(jobWith('Complete'), pod)).toMatchObject({ class: 'NoOutcome' })
    },
  )

  it('of two pods the latest counts', () => {
    const old = podWith(
      { terminated: { exitCode: 1 } },
      { phase: 'Failed' },
      { creationTimestamp: '2026-01-01T00:00:00Z' },
    )
    const late = podWith(
      { terminated: { exitCode: 7 } },
      { phase: 'Failed' },
      { creationTimestamp: '2026-01-01T00:00:05Z' },
    )
    expect(errorOf(failed, old, late)).toMatchObject({ exitCode: 7 })
  })

  it('a pod that ended because its Job was deleted says nothing', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z'
    const pod = podWith({ terminated: { exitCode: 143 } }, { phase: 'Failed' }, { deletionTimestamp })
    expect(verdict(null, pod)).toEqual({ phase: 'missing' })
  })

  it('only pods that ended are known not to run', () => {
    expect(mayRun(podWith({ running: {} }, { phase: 'Running' }))).toBe(true)
    expect(mayRun(podWith({}, { phase: 'Unknown' }))).toBe(true)
    expect(mayRun(podWith({ terminated: { exitCode: 0 } }, { phase: 'Succeeded' }))).toBe(false)
  })
})
