import { expect, test, vi } from 'vitest'
import { fakeLease } from '../../test/support/fake-lease.ts'
import type { Attempts, JobOutcome } from '../store/ports/attempts.ts'
import { JobOutcomes } from './job-outcomes.ts'

const LEASES = [fakeLease(), fakeLease({ runId: '01900000-0000-7000-8000-000000000002' })] as const

function setUp() {
  const said = new Map<string, JobOutcome>()
  const jobOutcomes = vi.fn<Attempts['jobOutcomes']>(async (fences) =>
    fences.flatMap(({ runId }) => (said.has(runId) ? [{ runId, outcome: said.get(runId)! }] : [])),
  )
  return { said, jobOutcomes, outcomes: new JobOutcomes({ jobOutcomes }) }
}

test('all who ask at once share one look', async () => {
  const { jobOutcomes, outcomes } = setUp()
  expect(await Promise.all(LEASES.map((lease) => outcomes.of(lease)))).toEqual([null, null])
  expect(jobOutcomes).toHaveBeenCalledTimes(1)
})

test('who asks while a look is under way gets the answer of a later one', async () => {
  const { said, jobOutcomes, outcomes } = setUp()
  const look = Promise.withResolvers<[]>()
  jobOutcomes.mockReturnValueOnce(look.promise)
  const first = outcomes.of(LEASES[0])
  await vi.waitFor(() => expect(jobOutcomes).toHaveBeenCalled())
  const second = outcomes.of(LEASES[0])
  said.set(LEASES[0].runId, { ok: true, result_text: '1' })
  look.resolve([])
  expect(await second).toEqual({ status: 'succeeded', resultText: '1' })
  await first
})

test('a hint wakes those whose job has spoken, and is one look', async () => {
  const { said, jobOutcomes, outcomes } = setUp()
  const wakes = LEASES.map((lease) => {
    const wake = vi.fn()
    outcomes.onOutcome(lease, wake)
    return wake
  })
  said.set(LEASES[1].runId, {
    ok: false,
    error: { class: 'Boom', message: 'x', stack: null, retryable: false, exit_code: 3 },
  })
  await outcomes.hint()
  expect(wakes.map((wake) => wake.mock.calls.length)).toEqual([0, 1])
  expect(await outcomes.of(LEASES[1])).toEqual({
    status: 'failed',
    error: { class: 'Boom', message: 'x', stack: null, retryable: false, exitCode: 3 },
  })
  expect(jobOutcomes).toHaveBeenCalledTimes(1)
})

test('without anything to follow a hint asks nobody', async () => {
  const { jobOutcomes, outcomes } = setUp()
  outcomes.follow(LEASES[0])
  outcomes.forget(LEASES[0])
  await outcomes.hint()
  expect(jobOutcomes).not.toHaveBeenCalled()
})

test('a look that fails is told to who asked, and the next one is a new one', async () => {
  const { said, jobOutcomes, outcomes } = setUp()
  jobOutcomes.mockRejectedValueOnce(new Error('away'))
  await expect(outcomes.of(LEASES[0])).rejects.toThrow('away')
  said.set(LEASES[0].runId, { ok: true, result_text: '1' })
  expect(await outcomes.of(LEASES[0])).toMatchObject({ status: 'succeeded' })
})
