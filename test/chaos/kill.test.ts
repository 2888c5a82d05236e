/** Workers that are killed, frozen, or taken down by the runs they execute. Real processes, real signals. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gone } from '../../src/executor/fixtures/attempts.ts'
import { type Chaos, openChaos } from '../support/chaos.ts'
import { stopped } from '../support/processes.ts'

let chaos: Chaos
beforeAll(async () => {
  chaos = await openChaos()
})
afterAll(() => chaos.close())

describe('R383, the kill test', () => {
  it('a worker killed in the middle of a run leaves no process behind, and another worker finishes the run', async () => {
    const { place } = chaos
    const first = await place.startWorker()
    const runId = await chaos.submit('ignores', { folder: place.folder })
    const work = await place.marked(runId, 1, 'begun')
    const second = await place.startWorker()
    first.kill('SIGKILL')
    await gone([first.pid, work.pid, work.program!])
    const run = await chaos.reaches(runId, 'SUCCEEDED')
    expect(run).toMatchObject({ attemptCount: 2, reclaimCount: 1, releaseCount: 0 })
    expect(await chaos.resultOf(runId)).toEqual({ attempt: 2 })
    const { attempts } = await chaos.read(runId)
    expect(attempts.map(({ state, workerId }) => [state, workerId])).toEqual([
      ['LOST', first.workerId],
      ['SUCCEEDED', second.workerId],
    ])
    expect(await chaos.events(runId)).toEqual(['created', 'started', 'reclaimed', 'started', 'succeeded'])
    second.kill('SIGTERM')
    expect(await second.exited).toEqual({ code: 0, signal: null })
  })
})

describe('a worker frozen past its lease', () => {
  it('that comes back with a result changes nothing: it is discarded, and that is recorded', async () => {
    const { place } = chaos
    const frozen = await place.startWorker({ HOLDFAST_CONCURRENCY: '1' })
    // The model blocks the worker itself, so that its result is at hand before the worker hears of anything else.
    const runId = await chaos.submit('blocks-inline', { folder: place.folder, go: 'go-frozen' })
    await place.marked(runId, 1, 'begun')
    frozen.kill('SIGSTOP')
    const other = await place.startWorker()
    const run = await chaos.reaches(runId, 'SUCCEEDED')
    await place.touch('go-frozen')
    frozen.kill('SIGCONT')
    const line = await frozen.says('late result discarded: the lease had been lost')
    expect(line).toMatchObject({ run_id: runId, attempt_count: 1 })
    const { run: after, attempts } = await chaos.read(runId)
    expect({ ...after, eventSeq: 0 }).toEqual({ ...run, eventSeq: 0 })
    expect(attempts.map(({ state, workerId }) => [state, workerId])).toEqual([
      ['LOST', frozen.workerId],
      ['SUCCEEDED', other.workerId],
    ])
    expect(await chaos.resultOf(runId)).toEqual({ attempt: 2 })
    expect(await chaos.events(runId)).toEqual([
      'created',
      'started',
      'reclaimed',
      'started',
      'succeeded',
      'late_result_discarded',
    ])
    await stopped(frozen, other)
  })

  it('stops work it no longer holds as soon as it comes back, and takes new runs', async () => {
    const { place } = chaos
    const frozen = await place.startWorker({ HOLDFAST_CONCURRENCY: '1' })
    // Deaf to its signal: work that answers it at once may end before it is killed, and then its process lives on for the next run.
    const runId = await chaos.submit('ignores', { folder: place.folder })
    const work = await place.marked(runId, 1, 'begun')
    frozen.kill('SIGSTOP')
    const other = await place.startWorker()
    await chaos.reaches(runId, 'SUCCEEDED')
    await stopped(other)
    frozen.kill('SIGCONT')
    await gone([work.pid, work.program!])
    expect(await chaos.resultOf(runId)).toEqual({ attempt: 2 })
    await chaos.reaches(await chaos.submit('adds', { n: 1 }), 'SUCCEEDED')
    await stopped(frozen)
  })
})

describe('a run that takes its worker down', () => {
  it('ends FAILED when its attempts are used up, while the runs beside it end SUCCEEDED', async () => {
    const { place } = chaos
    const go = 'go-beside'
    const victim = await place.startWorker()
    const beside = await Promise.all([1, 2].map(() => chaos.submit('waits-inline', { folder: place.folder, go })))
    await Promise.all(beside.map((runId) => place.marked(runId, 1, 'begun')))
    const poison = await chaos.submit('kills-its-process', { folder: place.folder })
    expect(await victim.exited).toMatchObject({ signal: 'SIGKILL' })
    const second = await place.startWorker()
    const run = await chaos.reaches(poison, 'FAILED')
    expect(run).toMatchObject({ attemptCount: 3, maxAttempts: 3, reclaimCount: 1 })
    const { attempts } = await chaos.read(poison)
    expect(attempts.map(({ state, executor, error }) => [state, executor, error?.class])).toEqual([
      ['LOST', 'inline', 'WorkerLost'],
      ['FAILED', 'process', expect.any(String)],
      ['FAILED', 'process', expect.any(String)],
    ])
    for (const runId of beside) {
      await chaos.reaches(runId, 'SUCCEEDED')
      expect(await chaos.attemptStates(runId)).toEqual(['LOST', 'SUCCEEDED'])
    }
    expect(second.isRunning()).toBe(true)
    await stopped(second)
  })
})
