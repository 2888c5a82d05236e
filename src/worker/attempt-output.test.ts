/** What an attempt prints and uses: on record before it ends, and nothing of it once the lease is lost. */

import { expect, it, vi } from 'vitest'
import { FakeExecutor } from '../../test/support/fake-executor.ts'
import { fakeLease } from '../../test/support/fake-lease.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { createMemoryBlobStore } from '../blob/memory.ts'
import { DEFAULT_RETRY_POLICY } from '../run/retry.ts'
import type { AttemptLogs } from '../store/ports/attempt-logs.ts'
import type { Lease, Settled } from '../store/store.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { Attempt } from './attempt.ts'
import type { AttemptDeps } from './attempt-deps.ts'
import { LogWriter } from './log-writer.ts'

async function begin(changes: Partial<Lease> = {}, more: Partial<AttemptDeps> = {}) {
  const steps: string[] = []
  const executor = new FakeExecutor()
  const append = vi.fn<AttemptLogs['append']>(async (items) => {
    for (const { pieces } of items) steps.push(...pieces.map(({ stream, text }) => `${stream} ${text}`))
    return { lost: [] }
  })
  const attempt = new Attempt(fakeLease(changes), {
    workerId: 'worker-1',
    store: {
      async settle(): Promise<Settled> {
        steps.push('settled')
        return { status: 'SUCCEEDED', repeated: false }
      },
    },
    executorOf: () => executor,
    definitionOf: () => undefined,
    policyOf: () => DEFAULT_RETRY_POLICY,
    results: { blob: createMemoryBlobStore(), inlineBytes: 100, maxBytes: 1_000 },
    cancelGraceMs: 10_000,
    saveProgress: () => {},
    recordUsage: async (_, usage) => void steps.push(`used ${usage.cpuSeconds}`),
    recordArtifacts: async (_, artifacts) => {
      steps.push(...artifacts.map(({ name }) => `left ${name}`))
      return true
    },
    logs: { writer: new LogWriter({ append }), bytesMax: 1_000 },
    log: recordingLog().log,
    logSuccess: () => {},
    metrics: createMetrics({ processMetrics: false }),
    ...more,
  })
  const done = attempt.run()
  const work = await vi.waitUntil(() => executor.attempts[0])
  return { attempt, work, steps, append, done }
}

it('is written before the attempt is settled, without the values of sensitive parameters', async () => {
  const { work, steps, done } = await begin({ parameters: { api_key: 'k-12345' } })
  work.reports.output!('stdout', 'with k-12')
  work.reports.output!('stdout', '345\n')
  work.reports.log('warn', 'careful')
  work.reports.usage!({ cpuSeconds: 1.5, peakMemoryBytes: null })
  work.end({ status: 'succeeded', resultText: '1' })
  await done
  expect(steps).toEqual(['stdout with [redacted]\n', 'log warn: careful\n', 'used 1.5', 'settled'])
})

const FILE = { name: 'a/b.csv', bytes: 1, sha256: 'a'.repeat(64), ref: 'artifacts/x' }

it.each([
  { status: 'succeeded', resultText: '1' },
  { status: 'failed', error: { class: 'Boom', message: 'x', stack: null } },
] as const)('files it left are on record before it has $status', async (outcome) => {
  const { work, steps, done } = await begin()
  work.reports.artifact!(FILE)
  work.end(outcome)
  await done
  expect(steps).toEqual(['left a/b.csv', 'settled'])
})

it('files it left are recorded again until the database answers', async () => {
  const recordArtifacts = vi.fn<NonNullable<AttemptDeps['recordArtifacts']>>()
  recordArtifacts.mockRejectedValueOnce(new Error('away')).mockResolvedValue(true)
  const { work, steps, done } = await begin({}, { recordArtifacts })
  work.reports.artifact!(FILE)
  work.end({ status: 'succeeded', resultText: '1' })
  await done
  expect(recordArtifacts.mock.calls.map(([, artifacts]) => artifacts)).toEqual([[FILE], [FILE]])
  expect(steps).toEqual(['settled'])
})

it('without files no record of them is asked for', async () => {
  const recordArtifacts = vi.fn<NonNullable<AttemptDeps['recordArtifacts']>>()
  const { work, done } = await begin({}, { recordArtifacts })
  work.reports.usage!({ cpuSeconds: 1, peakMemoryBytes: 1 })
  work.end({ status: 'succeeded', resultText: '1' })
  await done
  expect(recordArtifacts).not.toHaveBeenCalled()
})

it('is dropped when the lease is lost', async () => {
  const { attempt, work, steps, append, done } = await begin()
  work.reports.output!('stdout', 'late')
  work.reports.artifact!(FILE)
  attempt.abort('lease-lost')
  work.end({ status: 'cancelled' })
  await done
  expect([steps, append.mock.calls]).toEqual([[], []])
})

it('that cannot be recorded does not hold up the end', async () => {
  const { work, steps, done } = await begin({}, { recordUsage: () => Promise.reject(new Error('away')) })
  work.reports.usage!({ cpuSeconds: 1, peakMemoryBytes: 1 })
  work.end({ status: 'succeeded', resultText: '1' })
  await done
  expect(steps).toEqual(['settled'])
})
