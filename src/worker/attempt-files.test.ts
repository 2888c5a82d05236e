/** The pipeline of an attempt whose input files are copied first. */

import { setImmediate as settled } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { FakeExecutor } from '../../test/support/fake-executor.ts'
import { fakeLease } from '../../test/support/fake-lease.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { createMemoryBlobStore } from '../blob/memory.ts'
import type { Outcome } from '../executor/executor.ts'
import { DEFAULT_RETRY_POLICY } from '../run/retry.ts'
import type { Settled, Settlement } from '../store/store.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { Attempt } from './attempt.ts'
import type { StageFiles, Staging } from './stage-files.ts'

function setUp(stageFiles: StageFiles) {
  const executor = new FakeExecutor()
  const settle = vi.fn(async (_: Settlement): Promise<Settled> => ({ status: 'SUCCEEDED', repeated: false }))
  const attempt = new Attempt(fakeLease(), {
    workerId: 'worker-1',
    store: { settle },
    executorOf: () => executor,
    definitionOf: () => undefined,
    policyOf: () => DEFAULT_RETRY_POLICY,
    results: { blob: createMemoryBlobStore(), inlineBytes: 100, maxBytes: 1_000 },
    cancelGraceMs: 10_000,
    saveProgress: () => {},
    stageFiles,
    log: recordingLog().log,
    logSuccess: () => {},
    metrics: createMetrics({ processMetrics: false }),
  })
  return { executor, settle, attempt, done: attempt.run() }
}

describe('an attempt with input files', () => {
  const file = { parameter: '/document', fileId: 'a', name: 'a', bytes: 1, type: 'text/plain', path: '/copy' }

  function staging() {
    const ready = Promise.withResolvers<{ files: (typeof file)[]; timeoutMs: number } | Outcome>()
    const calls: string[] = []
    const staged: Pick<Staging, 'handTo' | 'abort' | 'remove'> = {
      async handTo(submit) {
        const given = await ready.promise
        return 'status' in given ? { runId: 'r', attempt: 1, ended: given } : submit(given)
      },
      abort() {
        calls.push('abort')
        ready.resolve({ status: 'cancelled' })
      },
      async remove() {
        calls.push('remove')
      },
    }
    const stageFiles: StageFiles = { begin: () => staged as Staging, close: async () => {} }
    return { ready, calls, stageFiles }
  }

  it('starts once they are there, with the time that is left, and they go when it has ended', async () => {
    const { ready, calls, stageFiles } = staging()
    const { executor, done, settle } = setUp(stageFiles)
    await settled()
    expect(executor.attempts).toEqual([])
    ready.resolve({ files: [file], timeoutMs: 40_000 })
    await settled()
    const [work] = executor.attempts
    expect(work!.input).toMatchObject({ files: [file], timeoutMs: 40_000, model: 'forecast' })
    expect(calls).toEqual([])
    work!.end({ status: 'succeeded', resultText: '1' })
    await done
    expect([calls, settle.mock.calls[0]![0].kind]).toEqual([['remove'], 'succeed'])
  })

  it.each([
    ['cancelled', 'cancel'],
    ['shutdown', 'release'],
    ['lease-lost', null],
  ] as const)('that is told to stop (%s) while they are copied starts nothing', async (reason, kind) => {
    const { calls, stageFiles } = staging()
    const { executor, attempt, done, settle } = setUp(stageFiles)
    await settled()
    attempt.abort(reason)
    await done
    expect([executor.attempts, calls]).toEqual([[], ['abort', 'remove']])
    expect(settle.mock.calls[0]?.[0].kind ?? null).toBe(kind)
  })

  it('fails as the copying did, to be tried again', async () => {
    const { ready, calls, stageFiles } = staging()
    const { done, settle } = setUp(stageFiles)
    ready.resolve({ status: 'failed', error: { class: 'InputFileUnavailable', message: 'gone', stack: null } })
    await done
    expect(settle.mock.calls[0]![0]).toMatchObject({ kind: 'retry', error: { class: 'InputFileUnavailable' } })
    expect(calls).toEqual(['remove'])
  })
})
