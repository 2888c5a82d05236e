/** The steps of an attempt on their way to the store, with every port played by the test. */

import { describe, expect, it, vi } from 'vitest'
import { fakeLease } from '../../test/support/fake-lease.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { BlobStoreFull } from '../blob/blob.ts'
import { createMemoryBlobStore } from '../blob/memory.ts'
import { sha256 } from '../run/canonical.ts'
import { Refusal } from '../run/errors.ts'
import type { HeldCommit, Step } from '../store/ports/steps.ts'
import { AttemptSteps } from './attempt-steps.ts'
import { StepStateWriter } from './step-states.ts'

const STARTED_AT = new Date(0)
const LARGE = JSON.stringify('x'.repeat(200))

function stepOf(name: string, outputText = '1') {
  return { name, outputText, tries: 2, startedAt: STARTED_AT, cpuSeconds: 0.5, peakMemoryBytes: 10 }
}

function setUp(done: Partial<Step>[] = []) {
  const lease = fakeLease({ epoch: 3, attempt: 2 })
  const commitHeld = vi.fn(async (): Promise<HeldCommit> => 'kept')
  const hasAny = vi.fn(async () => done.length > 0)
  const list = vi.fn(async () => done as Step[])
  const saveStates = vi.fn(async () => {})
  const blob = createMemoryBlobStore()
  const { log, lines } = recordingLog()
  const states = new StepStateWriter({ saveStates })
  const onLost = vi.fn()
  let isStopped = false
  const steps = new AttemptSteps(
    lease,
    {
      workerId: 'worker-1',
      steps: { commitHeld, hasAny, list },
      results: { blob, inlineBytes: 100, maxBytes: 1_000 },
      states,
      log,
    },
    { onLost, isStopped: () => isStopped, hide: (text) => text.replace('sesame', '***') },
  )
  const stop = () => {
    isStopped = true
  }
  return { lease, steps, commitHeld, hasAny, list, saveStates, states, blob, lines, onLost, stop }
}

describe('commit', () => {
  it('sends the output and its facts under the fence of the lease', async () => {
    const { steps, lease, commitHeld } = setUp()
    await steps.commit(stepOf('load', '{"a":1}'))
    const output = { ref: 'inline', hash: sha256('{"a":1}'), bytes: 7, text: '{"a":1}' }
    expect(commitHeld).toHaveBeenCalledExactlyOnceWith(
      { runId: lease.runId, epoch: 3, attempt: 2, workerId: 'worker-1' },
      { name: 'load', tries: 2, startedAt: STARTED_AT, cpuSeconds: 0.5, peakMemoryBytes: 10, output },
      { steps: 1_000, items: 100_000, bytes: 1_000 },
    )
  })

  it('puts a large output into a blob of its own before', async () => {
    const { steps, commitHeld, blob, lease } = setUp()
    commitHeld.mockImplementation(async (...given: unknown[]) => {
      const { output } = given[1] as Step
      expect((await blob.get(output.ref)).byteLength).toBe(202)
      expect(output).toMatchObject({ text: null, ref: expect.stringContaining(`${lease.runId}.step-`) })
      return 'kept'
    })
    await steps.commit(stepOf('load', LARGE))
    expect(commitHeld).toHaveBeenCalledOnce()
  })

  it('waits while the database cannot be reached', async () => {
    const { steps, commitHeld } = setUp()
    const away = new Refusal('database-unavailable', 'gone')
    for (let times = 0; times < 4; times += 1) commitHeld.mockRejectedValueOnce(away)
    await steps.commit(stepOf('load'))
    expect(commitHeld).toHaveBeenCalledTimes(5)
  })

  it('gives up when nobody waits for the attempt any more', async () => {
    const { steps, commitHeld, stop } = setUp()
    commitHeld.mockRejectedValue(new Refusal('database-unavailable', 'gone'))
    stop()
    await expect(steps.commit(stepOf('load'))).rejects.toMatchObject({ name: 'StepNotKept', isFinal: false })
  })

  it('of a store in other trouble is a clear error after a few tries, which another attempt may cure', async () => {
    const { steps, commitHeld } = setUp()
    commitHeld.mockRejectedValue(new Error('out of shared memory'))
    await expect(steps.commit(stepOf('load'))).rejects.toMatchObject({
      name: 'StepNotKept',
      message: 'the output of the step "load" could not be stored: out of shared memory',
      isFinal: false,
    })
    expect(commitHeld).toHaveBeenCalledTimes(3)
  })

  it('of a full disk is the same, and nothing is committed', async () => {
    const { steps, commitHeld, blob } = setUp()
    blob.put = () => Promise.reject(new BlobStoreFull('x'))
    await expect(steps.commit(stepOf('load', LARGE))).rejects.toMatchObject({ name: 'StepNotKept', isFinal: false })
    expect(commitHeld).not.toHaveBeenCalled()
  })

  it('under a lost lease stops the attempt', async () => {
    const { steps, commitHeld, onLost } = setUp()
    commitHeld.mockResolvedValue('lost')
    await expect(steps.commit(stepOf('load'))).rejects.toMatchObject({ name: 'LeaseLost' })
    expect(onLost).toHaveBeenCalledOnce()
  })

  it.each([
    ['an output over the limit', 'kept', JSON.stringify('x'.repeat(2_000)), 'StepOutputTooLarge'],
    ['one step too many', 'full', LARGE, 'StepLimit'],
  ] as const)('%s is refused for good and leaves no bytes', async (_, verdict, text, name) => {
    const { steps, commitHeld, blob } = setUp()
    commitHeld.mockResolvedValue(verdict)
    await expect(steps.commit(stepOf('load', text))).rejects.toMatchObject({ name, isFinal: true })
    for await (const { name: left } of blob.list()) throw new Error(`${left} was left`)
  })

  it('of another output than the run has fails the attempt, as the next one gets the first', async () => {
    const { steps, commitHeld } = setUp()
    commitHeld.mockResolvedValue('conflict')
    await expect(steps.commit(stepOf('load'))).rejects.toMatchObject({ name: 'StepNotKept', isFinal: false })
  })
})

describe('what is done', () => {
  const inline = { name: 'load', output: { ref: 'inline', hash: 'f', bytes: 1, text: '7' } }

  it('is not read of a run that has nothing', async () => {
    const { steps, list } = setUp()
    expect(await steps.done()).toEqual([])
    expect(list).not.toHaveBeenCalled()
  })

  it('is given as text, also from blobs', async () => {
    const output = { ref: '', hash: sha256(LARGE), bytes: 202, text: null }
    const { steps, blob } = setUp([inline, { name: 'fit', output }])
    output.ref = (await blob.put('x.json', Buffer.from(LARGE))).ref
    expect(await steps.done()).toEqual([
      { name: 'load', outputText: '7' },
      { name: 'fit', outputText: LARGE },
    ])
  })

  it.each([
    ['gone', null],
    ['damaged', Buffer.from(LARGE.replace('x', 'y'))],
  ])('leaves out an output whose bytes are %s; done again, it need not be the same', async (_, bytes) => {
    const output = { ref: 'artifacts/x.json', hash: sha256(LARGE), bytes: 202, text: null }
    const { steps, blob, commitHeld, lines } = setUp([inline, { name: 'fit', output }])
    if (bytes) await blob.put('x.json', bytes)
    expect(await steps.done()).toEqual([{ name: 'load', outputText: '7' }])
    commitHeld.mockResolvedValue('conflict')
    await steps.commit(stepOf('fit'))
    expect(lines.map(({ msg }) => msg)).toEqual([
      'the stored output of a step is gone',
      'a step whose output was gone gave another one',
    ])
  })
})

describe('states', () => {
  const failed = {
    name: 'parse',
    state: 'FAILED' as const,
    tries: 4,
    startedAt: STARTED_AT,
    lastError: { class: 'Error', message: 'no sesame' },
  }
  const stored = {
    name: 'parse',
    state: 'FAILED',
    tries: 4,
    started_at: '1970-01-01T00:00:00.000Z',
    last_error: { class: 'Error', message: 'no ***' },
  }

  it('are written together, without secrets', async () => {
    const { steps, states, saveStates, lease } = setUp()
    steps.states([{ ...failed, state: 'WAITING' }])
    steps.states([failed])
    await states.write()
    await states.write()
    const fence = { runId: lease.runId, epoch: 3, attempt: 2 }
    expect(saveStates).toHaveBeenCalledExactlyOnceWith([{ fence, states: [stored] }])
  })

  it('are written at the end of an attempt that failed, and not of one that went well', async () => {
    const { steps, saveStates } = setUp()
    steps.states([failed])
    await steps.end(true)
    expect(saveStates).toHaveBeenCalledOnce()
    const other = setUp()
    other.steps.states([failed])
    await other.steps.end(false)
    await other.states.write()
    expect(other.saveStates).not.toHaveBeenCalled()
  })
})
