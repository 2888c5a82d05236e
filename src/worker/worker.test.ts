/** A worker with all its ports played by the test: what it takes, whom it stops, and how it ends. */

import { randomUUID } from 'node:crypto'
import { BroadcastChannel } from 'node:worker_threads'
import { expect, it, onTestFinished, vi } from 'vitest'
import { FakeExecutor } from '../../test/support/fake-executor.ts'
import { fakeLease } from '../../test/support/fake-lease.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { until } from '../../test/support/until.ts'
import { createMemoryBlobStore } from '../blob/memory.ts'
import type { ModelDefinition } from '../run/definition.ts'
import type { ClaimRequest, Lease, Settled, Settlement, Store } from '../store/store.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { createMemoryWakeup } from '../wakeup/memory.ts'
import { Worker, type WorkerSettings } from './worker.ts'

const THREAD = new URL('../../test/fixtures/scripted-heartbeat.js', import.meta.url)
const MODEL = {
  name: 'forecast',
  version: '1',
  concurrency: null,
  retry: {},
  volatile: [],
} as unknown as ModelDefinition

const SETTINGS: WorkerSettings = {
  queues: [{ queue: 'default', limit: null }],
  concurrency: 3,
  leaseMs: 60_000,
  pollMs: 60_000,
  janitorMs: 60_000,
  shutdownGraceMs: 60_000,
  cancelGraceMs: 10_000,
  cancelConfirmMs: 60_000,
  deadlineGraceMs: 10_000,
  loopSilenceMs: 300_000,
  retry: {},
}

async function setUp(changes: Partial<WorkerSettings> = {}) {
  const waiting: Lease[] = []
  const claims: ClaimRequest[] = []
  const settlements: Settlement[] = []
  const store = {
    registerWorker: vi.fn(async () => {}),
    workerStopped: vi.fn(async () => {}),
    readQueues: async () => [],
    reclaimExpired: async () => [],
    confirmOverdueCancels: async () => [],
    deleteExpiredKeys: async () => 0,
    forgetDeadWorkers: async () => 0,
    saveProgress: async () => {},
    blocks: { areKeysInUse: false, promote: async () => ({ freed: [], stopped: [], more: false }) },
    stats: { roll: async () => ({ outcome: 'left' }), forgetOld: async () => 0 },
    claim: vi.fn(async (request: ClaimRequest) => {
      claims.push(request)
      return waiting.splice(0, request.slots)
    }),
    async settle(settlement: Settlement): Promise<Settled> {
      settlements.push(settlement)
      return { status: settlement.kind === 'succeed' ? 'SUCCEEDED' : 'PENDING', repeated: false }
    },
    settleAll: vi.fn(async (all: Settlement[]): Promise<(Settled | Error)[]> => Promise.all(all.map(store.settle))),
  }
  const thread = threadLink()
  const executor = new FakeExecutor()
  const { log, lines } = recordingLog()
  const wakeup = createMemoryWakeup({ log })
  const worker = new Worker({
    store: store as unknown as Store,
    wakeup,
    executors: [executor],
    definitions: [MODEL],
    results: { blob: createMemoryBlobStore(), inlineBytes: 1_000, maxBytes: 10_000 },
    heartbeatThread: { url: THREAD, data: { channel: thread.name } },
    version: '0.0.0',
    log,
    metrics: createMetrics({ processMetrics: false }),
    settings: { ...SETTINGS, ...changes },
  })
  onTestFinished(async () => {
    executor.onCancel = (attempt) => attempt.end({ status: 'cancelled' })
    for (const attempt of executor.attempts) attempt.end({ status: 'cancelled' })
    await worker.stop()
    thread.close()
  })
  await worker.start()

  /** Makes runs claimable and waits until their work has started. */
  async function take(...leases: Lease[]) {
    const before = executor.attempts.length
    waiting.push(...leases)
    wakeup.hint('queue:default', 'any')
    await until(() => executor.attempts.length === before + leases.length, { what: 'the work has started' })
    return executor.attempts.slice(before)
  }
  return { worker, store, waiting, claims, settlements, executor, wakeup, thread, lines, take }
}

/** The test's end of the scripted heartbeat thread. */
function threadLink() {
  const name = randomUUID()
  const channel = new BroadcastChannel(name)
  const told: Record<string, unknown>[] = []
  channel.onmessage = (event) => {
    const { data } = event as { data: { from: string; message: Record<string, unknown> } }
    if (data.from === 'worker') told.push(data.message)
  }
  return {
    name,
    told,
    say: (message: object) => channel.postMessage({ from: 'test', message }),
    close: () => channel.close(),
  }
}

const lease = (runId: string, epoch = 1) => fakeLease({ runId, epoch, attempt: epoch })
const succeeded = { status: 'succeeded', resultText: '1' } as const
const answer = (lost: object[], cancelRequested: object[] = []) => ({
  type: 'answer',
  lost,
  cancelRequested,
  reached: true,
})

it('registers before it takes anything, and claims no more than its free slots', async () => {
  const { store, claims, take } = await setUp()
  expect(store.registerWorker).toHaveBeenCalledBefore(store.claim)
  await take(lease('a'), lease('b'))
  await take(lease('c'))
  expect(claims.map(({ slots }) => slots)).toEqual([3, 3, 1])
})

it('a full worker asks for nothing, and for one run as soon as one has ended', async () => {
  const { claims, wakeup, take } = await setUp({ concurrency: 1 })
  const [work] = await take(lease('a'))
  const before = claims.length
  wakeup.hint('queue:default', 'b')
  work!.end(succeeded)
  await until(() => claims.length > before, { what: 'the free slot is offered' })
  expect(claims.slice(before).map(({ slots }) => slots)).toEqual([1])
})

it('tells the heartbeat of a lease before the work starts, and of its end', async () => {
  const { thread, executor, take } = await setUp()
  let toldBefore = -1
  executor.beforeSubmit = async () => {
    await until(() => thread.told.some(({ type }) => type === 'add'), { what: 'the thread knows the lease' })
    toldBefore = executor.attempts.length
  }
  const [work] = await take(lease('a', 5))
  expect(toldBefore).toBe(0)
  expect(thread.told.find(({ type }) => type === 'add')!.claims).toMatch(/^1 \d+ a 5,\n$/)
  work!.end(succeeded)
  await until(() => thread.told.some(({ type }) => type === 'end'), { what: 'the thread forgets the lease' })
})

it('a hint to the worker makes the heartbeat look at once', async () => {
  const { worker, thread, wakeup } = await setUp()
  const before = thread.told.filter(({ type }) => type === 'beat').length
  wakeup.hint(`worker:${worker.id}`, 'a')
  await until(() => thread.told.filter(({ type }) => type === 'beat').length > before, { what: 'a beat was asked for' })
})

it('a lost lease stops exactly its own work', async () => {
  const { thread, take } = await setUp()
  const [a, b] = await take(lease('a'), lease('b'))
  thread.say(answer([{ runId: 'a', epoch: 1 }]))
  await until(() => a!.cancels.length > 0, { what: 'the work was stopped' })
  expect(a!.cancels).toEqual([{ reason: 'lease-lost', graceMs: 0 }])
  expect(b!.cancels).toEqual([])
})

it('a requested cancel reaches the work with its grace', async () => {
  const { thread, take } = await setUp()
  const [a] = await take(lease('a'))
  thread.say(answer([], [{ runId: 'a', epoch: 1 }]))
  await until(() => a!.cancels.length > 0, { what: 'the work was stopped' })
  expect(a!.cancels).toEqual([{ reason: 'cancelled', graceMs: 10_000 }])
})

it('news of an old lease does not touch the new one of the same run', async () => {
  const { thread, take } = await setUp()
  const [first] = await take(lease('a', 1))
  const [second, other] = await take(lease('a', 2), lease('b', 1))
  thread.say(answer([{ runId: 'a', epoch: 1 }], [{ runId: 'b', epoch: 1 }]))
  await until(() => other!.cancels.length > 0, { what: 'the answer was heard' })
  expect(second!.cancels).toEqual([])
  expect(first!.cancels).toEqual([{ reason: 'lease-lost', graceMs: 0 }])
})

it('taking a run again that it still works on stops the old work at once', async () => {
  const { take } = await setUp()
  const [first] = await take(lease('a', 1))
  await take(lease('a', 2))
  expect(first!.cancels).toEqual([{ reason: 'lease-lost', graceMs: 0 }])
})

it('the end of old work leaves the new work of the same run its lease and its place', async () => {
  const { worker, thread, settlements, take } = await setUp()
  const [first] = await take(lease('a', 1))
  const [second] = await take(lease('a', 2))
  expect(worker.running).toBe(2)
  first!.end(succeeded)
  await until(() => worker.running === 1, { what: 'the old work has ended' })
  await until(() => thread.told.some(({ type }) => type === 'end'), { what: 'the thread was told' })
  const ended = { type: 'end', claims: [{ claim: 1, ended: null }] }
  expect(thread.told.filter(({ type }) => type === 'end')).toEqual([ended])
  second!.end(succeeded)
  await until(() => worker.running === 0, { what: 'the new work has ended' })
  expect(settlements.map(({ epoch, kind }) => [epoch, kind])).toEqual([[2, 'succeed']])
})

it('goes on after the database was away', async () => {
  const { store, lines, take } = await setUp()
  store.claim.mockRejectedValueOnce(new Error('connection refused'))
  await take(lease('a'))
  expect(lines.filter(({ msg }) => msg === 'a loop failed; it goes on')).toHaveLength(1)
})

it('stopping lets work end within the grace and takes no more', async () => {
  const { worker, store, waiting, wakeup, settlements, take } = await setUp()
  const [work] = await take(lease('a'))
  const stopping = worker.stop()
  const claimsBefore = store.claim.mock.calls.length
  waiting.push(lease('b'))
  wakeup.hint('queue:default', 'b')
  work!.end(succeeded)
  await stopping
  expect(store.claim.mock.calls.length).toBe(claimsBefore)
  expect(settlements.map(({ kind }) => kind)).toEqual(['succeed'])
  expect(store.workerStopped).toHaveBeenCalledExactlyOnceWith(worker.id)
})

it('stopping releases what does not end within the grace, and ends the executors after it', async () => {
  const { worker, executor, settlements, take } = await setUp({ shutdownGraceMs: 0 })
  executor.onCancel = (attempt) => attempt.end({ status: 'cancelled' })
  const [work] = await take(lease('a'))
  await worker.stop()
  expect(work!.cancels).toEqual([{ reason: 'shutdown', graceMs: 10_000 }])
  expect(settlements.map(({ kind }) => kind)).toEqual(['release'])
  expect(executor.stops).toBe(1)
})

it('a cancel reaches the work also while the worker is stopping', async () => {
  const { worker, thread, wakeup, take } = await setUp()
  const [work] = await take(lease('a'))
  const before = thread.told.length
  const stopping = worker.stop()
  wakeup.hint(`worker:${worker.id}`, 'a')
  await until(() => thread.told.slice(before).some(({ type }) => type === 'beat'), { what: 'the heartbeat looked' })
  work!.end(succeeded)
  await stopping
})

it('stopping twice is the same as once', async () => {
  const { worker, store, executor } = await setUp()
  await Promise.all([worker.stop(), worker.stop()])
  await worker.stop()
  expect(store.workerStopped).toHaveBeenCalledTimes(1)
  expect(executor.stops).toBe(1)
})

it('what is over in the turn it began is settled together, and announced', async () => {
  const { worker, store, executor, waiting, wakeup, lines } = await setUp()
  executor.atOnce = () => ({ status: 'succeeded', resultText: '1' })
  waiting.push(fakeLease(), fakeLease(), fakeLease())
  wakeup.hint('queue:default', 'any')
  await until(() => lines.filter(({ msg }) => msg === 'run succeeded').length === 3, { what: 'all have ended' })
  expect(store.settleAll.mock.calls.map(([settlements]) => settlements.length)).toEqual([3])
  expect(worker.running).toBe(0)
})

it('of those settled together one that fails is settled alone, and only it is asked for again', async () => {
  const { store, executor, waiting, wakeup, settlements, lines } = await setUp()
  const [good, bad] = [fakeLease(), fakeLease()]
  executor.atOnce = () => ({ status: 'succeeded', resultText: '1' })
  store.settleAll.mockResolvedValueOnce([{ status: 'SUCCEEDED', repeated: false }, new Error('connection lost')])
  waiting.push(good, bad)
  wakeup.hint('queue:default', 'any')
  await until(() => lines.filter(({ msg }) => msg === 'run succeeded').length === 2, { what: 'both have ended' })
  expect(settlements.map(({ runId }) => runId)).toEqual([bad.runId])
  expect(lines.filter(({ msg }) => msg === 'could not settle; trying again')).toHaveLength(1)
})

it('what is over at once holds its slot until it is settled, and a stop waits for it', async () => {
  const { worker, store, executor, waiting, wakeup, lines } = await setUp()
  const answer = Promise.withResolvers<(Settled | Error)[]>()
  executor.atOnce = () => ({ status: 'succeeded', resultText: '1' })
  store.settleAll.mockReturnValueOnce(answer.promise)
  waiting.push(fakeLease())
  wakeup.hint('queue:default', 'any')
  await until(() => store.settleAll.mock.calls.length === 1, { what: 'it is being settled' })
  expect(worker.running).toBe(1)
  const stopped = worker.stop()
  await until(() => lines.some(({ msg }) => msg.startsWith('worker stopping')), { what: 'the stop has begun' })
  expect(store.workerStopped).not.toHaveBeenCalled()
  answer.resolve([{ status: 'SUCCEEDED', repeated: false }])
  await stopped
  expect(worker.running).toBe(0)
  expect(store.workerStopped).toHaveBeenCalledOnce()
})
