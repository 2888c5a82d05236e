/** Large logs move from rows to a blob and read the same before, meanwhile and after, whatever dies on the way. */

import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import { openTestStore, settle, type TestStore } from '../../test/support/store.ts'
import { createLogReader } from '../api/log-reader.ts'
import { createMemoryBlobStore } from '../blob/memory.ts'
import type { Lease } from '../store/store.ts'
import { createPackLogs } from './pack-logs.ts'

let db: TestStore
beforeAll(async () => {
  db = await openTestStore('18')
})
afterEach(() => db.clear())
afterAll(() => db.close())

function setUp({ keepMs = null as number | null } = {}) {
  const blob = createMemoryBlobStore()
  const logs = db.store.attemptLogs
  const reader = createLogReader({ logs, blob, log: recordingLog().log })
  const packing = createPackLogs({ blob, logs, keepMs })
  async function all(runId: string, limit = 7, attempt: number | null = null) {
    const found = []
    let after: number | null = 0
    while (after !== null) {
      const page: Awaited<ReturnType<typeof reader.read>> = await reader.read(runId, { attempt, after, limit })
      found.push(...page.pieces)
      after = page.next
    }
    return found
  }
  const rows = async () => Number((await db.database.query('SELECT count(*) FROM run_logs'))[0]!.count)
  const names = async () => {
    const found: string[] = []
    for await (const { name } of blob.list()) found.push(name)
    return found
  }
  const moved = async () => {
    await db.database.shiftClock('5 minutes')
    while (await packing.next());
  }
  return { blob, reader, packing, all, rows, names, moved }
}

const print = (lease: Lease, texts: string[]) =>
  db.store.attemptLogs.append([{ fence: lease, pieces: texts.map((text) => ({ stream: 'stdout' as const, text })) }])
const much = Array.from({ length: 20 }, (_, i) => `${i} ü\u2028\r\n${'x'.repeat(5_000)}\n`)
const FAILED = { error: { class: 'Boom', message: 'x', stack: null } }

it('reads the same from the blob as from the rows, page by page', async () => {
  const { all, rows, names, moved } = setUp()
  const lease = await db.running()
  await print(lease, much)
  await settle(db, lease, 'fail', FAILED)
  const before = await all(lease.runId)
  expect(before.length).toBe(20)
  await moved()
  expect([await rows(), (await names()).length]).toEqual([0, 1])
  expect((await names())[0]).toMatch(new RegExp(`^${lease.runId}\\.a1\\.log-`))
  for (const limit of [1, 7, 19, 20, 21, 1_000]) expect(await all(lease.runId, limit)).toEqual(before)
  expect(await all(lease.runId, 7, 1)).toEqual(before)
  expect(await all(lease.runId, 7, 2)).toEqual([])
  expect(await db.store.blobs.unnamed((await names()).map((name) => `artifacts/${name}`))).toEqual([])
})

it('leaves small logs and those of open attempts in rows, the latter until they end', async () => {
  const { rows, names, moved } = setUp()
  const [small, open] = [await db.running(), await db.running()]
  await print(small, ['little'])
  await print(open, much)
  await settle(db, small, 'fail', FAILED)
  await moved()
  expect([await rows(), await names()]).toEqual([21, []])
  await settle(db, open, 'fail', FAILED)
  await moved()
  expect([await rows(), (await names()).length]).toEqual([1, 1])
})

it('keeps the rows when the blob cannot be stored, or the process dies before the statement', async () => {
  const { blob, packing, all, rows, names, moved } = setUp()
  const lease = await db.running()
  await print(lease, much)
  await settle(db, lease, 'fail', FAILED)
  const before = await all(lease.runId)
  await db.database.shiftClock('5 minutes')
  const { put } = blob
  blob.put = async (name, bytes) => {
    await put(name, bytes)
    throw new Error('killed')
  }
  await expect(packing.next()).rejects.toThrow('killed')
  expect([await all(lease.runId), await rows()]).toEqual([before, 20])
  blob.put = put
  await moved()
  expect([await all(lease.runId), await rows(), (await names()).length]).toEqual([before, 0, 2])
  expect((await db.store.blobs.unnamed((await names()).map((name) => `artifacts/${name}`))).length).toBe(1)
})

it('two at once keep one blob and every piece', async () => {
  const one = setUp()
  const lease = await db.running()
  await print(lease, much)
  await settle(db, lease, 'fail', FAILED)
  const before = await one.all(lease.runId)
  await db.database.shiftClock('5 minutes')
  const twin = createPackLogs({ blob: one.blob, logs: db.store.attemptLogs, keepMs: null })
  await Promise.all([one.packing.next(), twin.next()])
  expect([await one.all(lease.runId), await one.rows(), (await one.names()).length]).toEqual([before, 0, 1])
})

it('gives a follower that is behind what has moved, before what came after', async () => {
  const { reader, moved } = setUp()
  const lease = await db.running()
  await print(lease, much)
  await settle(db, lease, 'retry', { ...FAILED, delaySeconds: 0 })
  await moved()
  const models = [{ model: lease.model, version: lease.modelVersion, room: 1 }]
  const again = (await db.claim({ models }))[0]!
  await print(again, ['second attempt'])
  const found = (await reader.readNew([{ runId: lease.runId, after: 3 }])).get(lease.runId)!
  expect(found.map(({ no }) => no)).toEqual(Array.from({ length: 18 }, (_, i) => i + 4))
  expect(found.at(-1)).toMatchObject({ attempt: 2, text: 'second attempt' })
})

it('shows what else there is when a stored log is lost', async () => {
  const { blob, all, names, moved } = setUp()
  const lease = await db.running()
  await print(lease, much)
  await settle(db, lease, 'fail', FAILED)
  await moved()
  await blob.delete(`artifacts/${(await names())[0]}`)
  expect(await all(lease.runId)).toEqual([])
})

it('forgets stored logs when they are too old', async () => {
  const { names, moved, packing } = setUp({ keepMs: 3_600_000 })
  const lease = await db.running()
  await print(lease, much)
  await settle(db, lease, 'fail', FAILED)
  await moved()
  expect((await names()).length).toBe(1)
  await db.database.shiftClock('2 hours')
  await packing.next()
  expect(await names()).toEqual([])
})
