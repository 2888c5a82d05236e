import { expect, it, onTestFinished, vi } from 'vitest'
import { fakeLease } from '../../test/support/fake-lease.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { until } from '../../test/support/until.ts'
import type { Lease } from '../store/store.ts'
import { createMemoryWakeup } from '../wakeup/memory.ts'
import { createLeaseWaits, type LeaseAsked } from './lease-waits.ts'

const OFFER = { queues: ['default'], models: [{ model: 'm', version: '1', room: null }] }
const asking = (workerId: string, slots = 1): LeaseAsked => ({ workerId, slots, offer: OFFER })

function house({ pollMs = 60_000 } = {}) {
  const ready: Lease[] = []
  const claims: string[] = []
  const givenBack: string[] = []
  const { log } = recordingLog()
  const wakeup = createMemoryWakeup({ log })
  const claim = vi.fn(async ({ workerId, slots }: LeaseAsked): Promise<Lease[]> => {
    claims.push(workerId)
    return ready.splice(0, slots)
  })
  const waits = createLeaseWaits({
    claim,
    giveBack: async ({ runId }) => void givenBack.push(runId),
    wakeup,
    log,
    pollMs,
  })
  onTestFinished(() => waits.close())
  const add = (...ids: string[]) => void ready.push(...ids.map((runId) => fakeLease({ runId })))
  const next = (workerId: string, { seconds = 30, slots = 1, gone = new AbortController(), may = true } = {}) =>
    waits.next(asking(workerId, slots), { seconds, gone: gone.signal, mayStill: async () => may })
  return { waits, wakeup, claim, claims, givenBack, add, next }
}

const ids = (leases: Lease[]) => leases.map(({ runId }) => runId)

it('answers at once when there is work', async () => {
  const { next, add } = house()
  add('a', 'b', 'c')
  expect(ids(await next('w', { slots: 2 }))).toEqual(['a', 'b'])
})

it('a hint wakes the first of the line, and the next one only when there was more', async () => {
  const { next, add, wakeup, claims } = house()
  const first = next('first')
  const second = next('second')
  await until(() => claims.length >= 2, { what: 'both have looked' })
  await nothingMore(claims)
  const before = claims.length
  add('a')
  wakeup.hint('queue:default', 'a')
  expect(ids(await first)).toEqual(['a'])
  await nothingMore(claims)
  expect(claims.slice(before)).toEqual(['first', 'second'])
  add('b')
  wakeup.hint('queue:default', 'b')
  expect(ids(await second)).toEqual(['b'])
})

it('finds by itself what no hint told of', async () => {
  const { next, add, claims } = house({ pollMs: 10 })
  const waiting = next('w')
  await until(() => claims.length > 0, { what: 'it has looked' })
  add('a')
  expect(ids(await waiting)).toEqual(['a'])
})

it('looks once when it may not wait, also behind others', async () => {
  const { next, claims } = house()
  void next('patient')
  expect(await next('hasty', { seconds: 0 })).toEqual([])
  expect(claims.length).toBeGreaterThan(0)
})

it('gives back what was being claimed for one who went away', async () => {
  const { next, claim, givenBack } = house()
  const claimed = Promise.withResolvers<Lease[]>()
  claim.mockImplementationOnce(() => claimed.promise)
  const gone = new AbortController()
  const waiting = next('w', { gone })
  gone.abort()
  claimed.resolve([fakeLease({ runId: 'a' })])
  expect(await waiting).toEqual([])
  expect(givenBack).toEqual(['a'])
})

it('hands over what was being claimed when the time was over', async () => {
  const { next, claim, givenBack } = house()
  const claimed = Promise.withResolvers<Lease[]>()
  claim.mockImplementationOnce(() => claimed.promise)
  const waiting = next('w', { seconds: 0 })
  setTimeout(() => claimed.resolve([fakeLease({ runId: 'a' })]), 10)
  expect(ids(await waiting)).toEqual(['a'])
  expect(givenBack).toEqual([])
})

it('takes nothing for one whose token was revoked while it waited', async () => {
  const { next, add, wakeup, claims } = house()
  const waiting = next('w', { may: false })
  await until(() => claims.length > 0, { what: 'it has looked' })
  await nothingMore(claims)
  add('a')
  wakeup.hint('queue:default', 'a')
  expect(await waiting).toEqual([])
})

it('lets everyone go when the service stops, and takes nobody after', async () => {
  const { next, waits, claims } = house()
  const waiting = [next('a'), next('b')]
  await until(() => claims.length > 0, { what: 'somebody has looked' })
  await waits.close()
  expect(await Promise.all(waiting)).toEqual([[], []])
  expect(await next('late')).toEqual([])
})

it('tells one whose claim failed, and the others go on waiting', async () => {
  const { next, add, claim, wakeup } = house()
  claim.mockRejectedValueOnce(new Error('no database'))
  await expect(next('w')).rejects.toThrow('no database')
  add('a')
  const waiting = next('v')
  wakeup.hint('queue:default', 'a')
  expect(ids(await waiting)).toEqual(['a'])
})

/** A few turns of the event loop, in which whatever was set off would show. */
async function nothingMore(claims: string[]): Promise<void> {
  let before = -1
  while (before !== claims.length) {
    before = claims.length
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
}
