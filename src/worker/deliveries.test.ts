import { expect, test, vi } from 'vitest'
import { fakeLease } from '../../test/support/fake-lease.ts'
import type { Attempts, DeliveredOutcome } from '../store/ports/attempts.ts'
import { Deliveries } from './deliveries.ts'

const LEASES = [fakeLease(), fakeLease({ runId: '01900000-0000-7000-8000-000000000002' })] as const

function setUp() {
  const said = new Map<string, DeliveredOutcome>()
  const delivered = vi.fn<Attempts['delivered']>(async (fences) =>
    fences.flatMap(({ runId }) => (said.has(runId) ? [{ runId, outcome: said.get(runId)! }] : [])),
  )
  return { said, delivered, deliveries: new Deliveries({ delivered }) }
}

test('all who ask at once share one look', async () => {
  const { delivered, deliveries } = setUp()
  expect(await Promise.all(LEASES.map((lease) => deliveries.of(lease)))).toEqual([null, null])
  expect(delivered).toHaveBeenCalledTimes(1)
})

test('who asks while a look is under way gets the answer of a later one', async () => {
  const { said, delivered, deliveries } = setUp()
  const look = Promise.withResolvers<[]>()
  delivered.mockReturnValueOnce(look.promise)
  const first = deliveries.of(LEASES[0])
  await vi.waitFor(() => expect(delivered).toHaveBeenCalled())
  const second = deliveries.of(LEASES[0])
  said.set(LEASES[0].runId, { ok: true, result_text: '1' })
  look.resolve([])
  expect(await second).toEqual({ status: 'succeeded', resultText: '1' })
  await first
})

test('a hint wakes those whose job has spoken, and is one look', async () => {
  const { said, delivered, deliveries } = setUp()
  const wakes = LEASES.map((lease) => {
    const wake = vi.fn()
    deliveries.onDelivered(lease, wake)
    return wake
  })
  said.set(LEASES[1].runId, {
    ok: false,
    error: { class: 'Boom', message: 'x', stack: null, retryable: false, exit_code: 3 },
  })
  await deliveries.hint()
  expect(wakes.map((wake) => wake.mock.calls.length)).toEqual([0, 1])
  expect(await deliveries.of(LEASES[1])).toEqual({
    status: 'failed',
    error: { class: 'Boom', message: 'x', stack: null, retryable: false, exitCode: 3 },
  })
  expect(delivered).toHaveBeenCalledTimes(1)
})

test('without anything to follow a hint asks nobody', async () => {
  const { delivered, deliveries } = setUp()
  deliveries.follow(LEASES[0])
  deliveries.forget(LEASES[0])
  await deliveries.hint()
  expect(delivered).not.toHaveBeenCalled()
})

test('a look that fails is told to who asked, and the next one is a new one', async () => {
  const { said, delivered, deliveries } = setUp()
  delivered.mockRejectedValueOnce(new Error('away'))
  await expect(deliveries.of(LEASES[0])).rejects.toThrow('away')
  said.set(LEASES[0].runId, { ok: true, result_text: '1' })
  expect(await deliveries.of(LEASES[0])).toMatchObject({ status: 'succeeded' })
})
