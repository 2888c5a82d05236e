import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { definition } from '../../test/support/definition.ts'
import { openTestStore, settlementOf, type TestStore } from '../../test/support/store.ts'
import { newAttemptToken } from '../run/attempt-token.ts'
import type { RemoteWorker } from './ports/remote.ts'

let db: TestStore
beforeAll(async () => {
  db = await openTestStore('18')
})
afterAll(() => db.close())

const WORKER: RemoteWorker = {
  workerId: 'remote:w',
  host: 'box',
  pid: 7,
  version: '1',
  queues: ['remote-only'],
  models: ['add@1'],
  concurrency: 3,
}
const shown = async () =>
  (await db.store.directory.workers({ limit: 9, cursor: null, state: null })).items.find(
    ({ workerId }) => workerId === WORKER.workerId,
  )

it('shows a worker that was seen, knows its queues, and changes no model', async () => {
  await db.store.remote.seen(WORKER)
  expect(await shown()).toMatchObject({ ...WORKER, state: 'live' })
  expect((await db.store.readQueues()).map(({ queue }) => queue)).toContain('remote-only')
  expect(await db.store.findModel('add', '1')).toBeNull()
  await db.store.workerStopped(WORKER.workerId)
  await db.store.remote.seen({ ...WORKER, concurrency: 4 })
  expect(await shown()).toMatchObject({ concurrency: 4, state: 'live', stoppedAt: null })
})

it('a heartbeat is a sign of life of the holder, written every ten seconds at most', async () => {
  await db.store.remote.seen(WORKER)
  const lease = await db.running({}, WORKER.workerId)
  const before = (await shown())!.lastSeenAt
  await db.store.remote.holderSeen(lease.runId)
  expect((await shown())!.lastSeenAt).toEqual(before)
  await db.database.shiftClock('11 seconds')
  await db.store.remote.holderSeen(lease.runId)
  expect((await shown())!.lastSeenAt.getTime()).toBeGreaterThan(before.getTime() + 10_000)
  await db.database.shiftClock('0')
})

it('hands over what is still held, once, and leaves the rest out', async () => {
  const [held, lost] = [await db.running({}, 'remote:w'), await db.running({}, 'remote:w')]
  await db.store.settle({ ...settlementOf(lost, 'release'), workerId: 'remote:w' })
  const hashes = [held, lost].map((lease) => ({ fence: lease, tokenHash: newAttemptToken(randomBytes(32)).hash }))
  const times = await db.store.remote.handOver(hashes)
  expect([...times.keys()]).toEqual([held.runId])
  expect(times.get(held.runId)!.deadlineAt.getTime()).toBeGreaterThan(Date.now())
  expect(await db.store.attempts.findByToken(held.runId, hashes[0]!.tokenHash)).toMatchObject({ executor: 'remote' })
  expect((await db.store.remote.handOver([{ ...hashes[0]!, tokenHash: randomBytes(32) }])).size).toBe(0)
})

it('tells of an ended attempt what its end left of the run, whatever came after', async () => {
  const lease = await db.running({}, 'remote:w')
  const tokenHash = randomBytes(32)
  await db.store.remote.handOver([{ fence: lease, tokenHash }])
  expect(await db.store.remote.ended(lease.runId, tokenHash)).toBeNull()
  const error = { class: 'E', message: 'm', stack: null }
  await db.store.remote.settle({ ...settlementOf(lease, 'retry', { error, delaySeconds: 60 }), workerId: 'remote:w' })
  await db.store.cancel(lease.runId)
  expect(await db.store.remote.ended(lease.runId, tokenHash)).toEqual({
    attempt: 1,
    epoch: lease.epoch,
    holder: 'remote:w',
    state: 'FAILED',
    errorClass: 'E',
    runStatus: 'PENDING',
  })
  expect(await db.store.remote.ended(lease.runId, randomBytes(32))).toBeNull()
})

it('finds all registered versions of models, with where their runs go', async () => {
  const models = ['1', '2'].map((version) =>
    definition({ name: 'twice', version, queue: 'gpu', concurrency: version === '1' ? 2 : null }),
  )
  await db.store.registerWorker({ ...WORKER, workerId: 'own', models })
  expect(await db.store.remote.versions(['twice', 'unknown'])).toEqual([
    { model: 'twice', version: '1', queue: 'gpu', concurrency: 2 },
    { model: 'twice', version: '2', queue: 'gpu', concurrency: null },
  ])
})
