import { expect, test, vi } from 'vitest'
import type { Handle, Outcome } from '../executor/executor.ts'
import { followJob, type JobToFollow } from './follow-job.ts'

const HANDLE: Handle = { runId: 'r', attempt: 1 }
const REF = { id: 'job' }
const DONE: Outcome = { status: 'succeeded', resultText: '1' }
const AWAY: Outcome = { status: 'unreachable', reason: 'away' }

function setUp(changes: Partial<JobToFollow> = {}) {
  const left = Promise.withResolvers<Outcome>()
  const job = {
    handle: HANDLE as Handle | null,
    ref: () => REF as JobToFollow['ref'] extends () => infer R ? R : never,
    adopt: vi.fn(async () => HANDLE),
    watch: vi.fn(async () => DONE),
    jobOutcome: vi.fn(async (): Promise<Outcome | null> => null),
    left: left.promise,
    onTrouble: vi.fn(),
    pauseMs: 1,
    ...changes,
  }
  return { job, left }
}

test('a job that ends is followed once', async () => {
  const { job } = setUp()
  expect(await followJob(job)).toEqual(DONE)
  expect(job.adopt).not.toHaveBeenCalled()
})

test('an engine that cannot tell is asked again until it can', async () => {
  const { job } = setUp({ watch: vi.fn(async () => DONE).mockResolvedValueOnce(AWAY as never) })
  expect(await followJob(job)).toEqual(DONE)
  expect(job.adopt).toHaveBeenCalledExactlyOnceWith(REF)
  expect(job.onTrouble).toHaveBeenCalledExactlyOnceWith('away')
})

test('an adopted job is asked for first, again and again', async () => {
  const adopt = vi.fn(async () => HANDLE).mockRejectedValueOnce(new Error('no such cluster'))
  const { job } = setUp({ handle: null, adopt })
  expect(await followJob(job)).toEqual(DONE)
  expect(adopt).toHaveBeenCalledTimes(2)
})

test('what the job said counts while its engine cannot be asked', async () => {
  const { job } = setUp({ watch: async () => AWAY, jobOutcome: vi.fn(async () => DONE) })
  expect(await followJob(job)).toEqual(DONE)
})

test('before it is handed over there is nothing to go on with', async () => {
  const { job } = setUp({ watch: async () => AWAY, ref: () => null })
  expect(await followJob(job)).toEqual(AWAY)
})

test.each(['while it is watched', 'while it pauses'])('letting go ends it: %s', async (when) => {
  const watch = when === 'while it pauses' ? async () => AWAY : () => new Promise<Outcome>(() => {})
  const { job, left } = setUp({ watch, pauseMs: 600_000 })
  const followed = followJob(job)
  if (when === 'while it pauses') await vi.waitFor(() => expect(job.onTrouble).toHaveBeenCalled())
  left.resolve({ status: 'unreachable', reason: 'let go' })
  expect((await followed).status).toBe('unreachable')
})
