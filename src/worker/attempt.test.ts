/** The pipeline of one attempt, with every port played by the test. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeAttempt } from '../../test/support/make-attempt.ts'
import { BlobStoreFull } from '../blob/blob.ts'
import { sha256 } from '../run/canonical.ts'
import type { Lease } from '../store/store.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function setUp(changes: Partial<Lease> = {}, beforeSubmit = async () => {}) {
  const parts = makeAttempt(changes)
  parts.executor.beforeSubmit = beforeSubmit
  let over = false
  const done = parts.attempt.run().then(() => {
    over = true
  })
  return { ...parts, done, isOver: () => over }
}

/** Lets everything happen that waits for no timer. */
const settled = () => vi.advanceTimersByTimeAsync(0)

async function started(changes: Partial<Lease> = {}) {
  const parts = setUp(changes)
  await settled()
  return { ...parts, work: parts.executor.attempts[0]! }
}

describe('a good attempt', () => {
  it('hands the lease to the executor and settles its result under the epoch', async () => {
    const { lease, work, done, settle } = await started({ epoch: 4, attempt: 2, timeoutSeconds: 1.5 })
    expect(work.input).toEqual({
      runId: lease.runId,
      attempt: 2,
      model: 'forecast',
      modelVersion: '1',
      parameters: {},
      seed: 7,
      timeoutMs: 1_500,
      alone: false,
      owner: 'default',
      payloadHash: lease.payloadHash,
    })
    work.end({ status: 'succeeded', resultText: '{"a":1}' })
    await done
    expect(settle).toHaveBeenCalledExactlyOnceWith({
      runId: lease.runId,
      epoch: 4,
      attempt: 2,
      workerId: 'worker-1',
      kind: 'succeed',
      result: { ref: 'inline', hash: sha256('{"a":1}'), text: '{"a":1}' },
    })
  })

  it('writes a large result to a blob before it settles', async () => {
    const { lease, work, done, settle, blob } = await started()
    const text = `"${'x'.repeat(500)}"`
    const ref = `artifacts/${lease.runId}.a1.json`
    settle.mockImplementationOnce(async () => {
      expect(Buffer.from(await blob.get(ref)).toString()).toBe(text)
      return { status: 'SUCCEEDED', repeated: false }
    })
    work.end({ status: 'succeeded', resultText: text })
    await done
    expect(settle.mock.calls[0]![0].result).toEqual({ ref, hash: sha256(text), text: null })
  })

  it('passes on progress, and log lines with the fields of its run', async () => {
    const { lease, work, done, progress, lines } = await started()
    work.reports.progress({ done: 1 })
    work.reports.log('warn', 'by the model', { answer: 42, run_id: 'forged' })
    work.end({ status: 'succeeded', resultText: '1' })
    await done
    expect(progress).toEqual([{ done: 1 }])
    expect(lines.find(({ msg }) => msg === 'by the model')).toMatchObject({
      level: 'warn',
      answer: 42,
      run_id: lease.runId,
      attempt_count: 1,
    })
  })

  it('is alone when its run was reclaimed before', async () => {
    const { work } = await started({ reclaimCount: 1, attempt: 2 })
    expect(work.input.alone).toBe(true)
  })
})

describe('settling', () => {
  it('is repeated, unchanged, until it is answered', async () => {
    const { work, done, settle, isOver, messages } = await started()
    const lost = new Error('connection terminated')
    settle.mockRejectedValueOnce(lost).mockRejectedValueOnce(lost).mockRejectedValueOnce(lost)
    work.end({ status: 'succeeded', resultText: '1' })
    await settled()
    expect(isOver()).toBe(false)
    await vi.advanceTimersByTimeAsync(1_000)
    await done
    expect(settle).toHaveBeenCalledTimes(4)
    expect(new Set(settle.mock.calls.map(([settlement]) => JSON.stringify(settlement))).size).toBe(1)
    expect(messages()).toEqual(['run started', 'could not settle; trying again', 'run succeeded'])
  })

  it('goes on for as long as the database is away, with pauses of two seconds at most', async () => {
    const { work, done, settle } = await started()
    settle.mockRejectedValue(new Error('connection refused'))
    work.end({ status: 'succeeded', resultText: '1' })
    await vi.advanceTimersByTimeAsync(600_000)
    const before = settle.mock.calls.length
    await vi.advanceTimersByTimeAsync(10_000)
    expect(settle.mock.calls.length - before).toBe(5)
    settle.mockResolvedValue({ status: 'SUCCEEDED', repeated: false })
    await vi.advanceTimersByTimeAsync(2_000)
    await done
  })

  it('ends without an answer only when the process is ending, and says so', async () => {
    const { attempt, work, done, settle, messages } = await started()
    settle.mockRejectedValue(new Error('connection refused'))
    work.end({ status: 'succeeded', resultText: '1' })
    await settled()
    attempt.giveUp()
    await vi.advanceTimersByTimeAsync(2_000)
    await done
    expect(messages()).toContain('attempt ended unexpectedly; its lease will lapse')
  })

  it('an answer of a lost lease is counted and is no success', async () => {
    const { work, done, settle, metrics, messages } = await started()
    settle.mockResolvedValueOnce({ status: 'stale', repeated: false })
    work.end({ status: 'succeeded', resultText: '1' })
    await done
    expect(messages().at(-1)).toBe('late result discarded: the lease had been lost')
    const text = await metrics.text()
    expect(text).toContain('late_results_discarded_total 1')
    expect(text).toContain('runs_succeeded_total 0')
  })

  it('counts what the database decided, not what was asked: a retry of a cancelled run is a cancel', async () => {
    const { work, done, settle, metrics } = await started()
    settle.mockResolvedValueOnce({ status: 'CANCELLED', repeated: false })
    work.end({ status: 'failed', error: { class: 'Error', message: 'it broke', stack: null } })
    await done
    expect(settle.mock.calls[0]![0].kind).toBe('retry')
    expect(await metrics.text()).toContain('runs_cancelled_total 1')
  })
})

describe('a failed attempt', () => {
  it('schedules a retry with the error and the delay', async () => {
    const { work, done, settle } = await started()
    const error = { class: 'RangeError', message: 'out of range', stack: 'at x', exitCode: 3 }
    work.end({ status: 'failed', error })
    await done
    expect(settle.mock.calls[0]![0]).toMatchObject({ kind: 'retry', error, delaySeconds: 5 })
  })

  it('is what a result that cannot be kept becomes', async () => {
    const { work, done, settle, blob } = await started()
    blob.put = (name) => Promise.reject(new BlobStoreFull(name))
    work.end({ status: 'succeeded', resultText: `"${'x'.repeat(500)}"` })
    await done
    expect(settle.mock.calls.map(([{ kind, error }]) => [kind, error?.class])).toEqual([['retry', 'ArtifactStoreFull']])
  })

  it('is what an executor that cannot start the work gives', async () => {
    const { settle, done } = setUp({}, () => Promise.reject(new Error('no file descriptors left')))
    await done
    expect(settle.mock.calls[0]![0]).toMatchObject({
      kind: 'retry',
      error: { class: 'ExecutorFailed', message: 'no file descriptors left' },
    })
  })

  it('is what an executor that this worker does not have gives', async () => {
    const { settle, done } = setUp({ executor: 'ray' })
    await done
    expect(settle.mock.calls[0]![0].error).toMatchObject({ class: 'ExecutorNotFound' })
    expect(settle.mock.calls[0]![0].error?.message).toContain('ray')
  })
})

describe('an attempt that lost its lease', () => {
  it('is stopped without grace and writes nothing, even when it succeeds', async () => {
    const { attempt, work, done, settle, blob } = await started()
    const put = vi.spyOn(blob, 'put')
    attempt.abort('lease-lost')
    expect(work.cancels).toEqual([{ reason: 'lease-lost', graceMs: 0 }])
    work.end({ status: 'succeeded', resultText: `"${'x'.repeat(500)}"` })
    await done
    expect(settle).not.toHaveBeenCalled()
    expect(put).not.toHaveBeenCalled()
  })

  it('while it was being cancelled is stopped at once', async () => {
    const { attempt, work, done, settle } = await started()
    attempt.abort('cancelled')
    attempt.abort('lease-lost')
    expect(work.cancels).toEqual([
      { reason: 'cancelled', graceMs: 10_000 },
      { reason: 'lease-lost', graceMs: 0 },
    ])
    work.end({ status: 'cancelled' })
    await done
    expect(settle).not.toHaveBeenCalled()
  })

  it('is counted once, however often it is told', async () => {
    const { attempt, work, done, metrics } = await started()
    attempt.abort('lease-lost')
    attempt.abort('lease-lost')
    attempt.abort('cancelled')
    expect(work.cancels).toHaveLength(1)
    work.end({ status: 'cancelled' })
    await done
    expect(await metrics.text()).toContain('leases_lost_total 1')
  })
})

describe('an attempt that is asked to stop', () => {
  it.each([
    ['cancelled', 'cancel'],
    ['shutdown', 'release'],
  ] as const)('by %s has its grace, then settles: %s', async (reason, kind) => {
    const { attempt, work, done, settle } = await started()
    attempt.abort(reason)
    expect(work.cancels).toEqual([{ reason, graceMs: 10_000 }])
    expect(settle).not.toHaveBeenCalled()
    work.end({ status: 'cancelled' })
    await done
    expect(settle.mock.calls.map(([settlement]) => settlement.kind)).toEqual([kind])
  })

  it('keeps the first reason it was given', async () => {
    const { attempt, work, done, settle } = await started()
    attempt.abort('cancelled')
    attempt.abort('shutdown')
    expect(work.cancels).toHaveLength(1)
    work.end({ status: 'cancelled' })
    await done
    expect(settle.mock.calls[0]![0].kind).toBe('cancel')
  })

  it('before the executor has taken it is stopped as soon as that has happened', async () => {
    const gate = Promise.withResolvers<void>()
    const { attempt, executor, settle, done } = setUp({}, () => gate.promise)
    attempt.abort('cancelled')
    gate.resolve()
    await settled()
    const [work] = executor.attempts
    expect(work?.cancels).toEqual([{ reason: 'cancelled', graceMs: 10_000 }])
    work?.end({ status: 'cancelled' })
    await done
    expect(settle.mock.calls[0]![0].kind).toBe('cancel')
  })

  it('and succeeds all the same has succeeded', async () => {
    const { attempt, work, done, settle } = await started()
    attempt.abort('cancelled')
    work.end({ status: 'succeeded', resultText: '1' })
    await done
    expect(settle.mock.calls[0]![0].kind).toBe('succeed')
  })
})

it('an attempt whose executor cannot tell is left to its lease', async () => {
  const { work, done, settle, messages } = await started()
  work.end({ status: 'unreachable', reason: 'the cluster does not answer' })
  await done
  expect(settle).not.toHaveBeenCalled()
  expect(messages().at(-1)).toBe('attempt left to its lease: the cluster does not answer')
})

it('every line about an attempt carries the same fields', async () => {
  const { lease, work, done, lines } = await started()
  work.end({ status: 'succeeded', resultText: '1' })
  await done
  const fields = {
    run_id: lease.runId,
    payload_hash: lease.payloadHash,
    worker_id: 'worker-1',
    attempt_count: 1,
    queue: 'default',
    executor: 'inline',
  }
  expect(lines.map(({ msg, status }) => [msg, status])).toEqual([
    ['run started', 'RUNNING'],
    ['run succeeded', 'SUCCEEDED'],
  ])
  for (const line of lines) expect(line).toMatchObject(fields)
})

it('neither its error nor its log lines say what a sensitive parameter holds', async () => {
  const { work, done, settle, lines } = await started({ parameters: { api_key: 'sesame-1', region: 'north' } })
  work.reports.log('info', 'calling with sesame-1', {})
  const error = { class: 'Error', message: '401 for sesame-1 in north', stack: 'Error: 401 for sesame-1\n  at x' }
  work.end({ status: 'failed', error })
  await done
  expect(settle.mock.calls[0]![0].error).toEqual({
    class: 'Error',
    message: '401 for [redacted] in north',
    stack: 'Error: 401 for [redacted]\n  at x',
  })
  expect(JSON.stringify(lines)).not.toContain('sesame')
})

it('an engine that lost the job: the attempt is lost', async () => {
  const { work, done, settle } = await started()
  work.end({ status: 'lost', reason: 'the cluster is gone' })
  await done
  expect(settle.mock.calls[0]![0]).toMatchObject({
    kind: 'lost',
    error: { class: 'JobLost', message: 'the cluster is gone' },
  })
})
