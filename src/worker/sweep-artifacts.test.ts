import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import { openTestStore, settle, type TestStore } from '../../test/support/store.ts'
import { createMemoryBlobStore } from '../blob/memory.ts'
import { createArtifactSweep } from './sweep-artifacts.ts'

const UNKNOWN = '01890a0b-0c0d-7000-8000-000000000000'

let db: TestStore
beforeAll(async () => {
  db = await openTestStore('18')
})
afterEach(() => db.clear())
afterAll(() => db.close())

async function setUp(namesMax = 100) {
  const blob = createMemoryBlobStore()
  const clock = { nowMs: 0 }
  const { artifacts } = db.store
  const sweep = createArtifactSweep({ blob, artifacts, log: recordingLog().log, namesMax, nowMs: () => clock.nowMs })
  const put = async (name: string) => (await blob.put(name, Buffer.from('x'))).ref
  const names = async () => {
    const found: string[] = []
    for await (const name of blob.names()) found.push(name)
    return found
  }
  return { blob, clock, sweep, put, names }
}

const hour = (hours: number) => hours * 3600 * 1000

it('removes only files whose attempt ended long ago without recording them', async () => {
  const { clock, sweep, put, names } = await setUp()
  const [ended, open] = [await db.running(), await db.running()]
  const recorded = await put(`${ended.runId}.a1.files.recorded`)
  await db.store.artifacts.record(ended, [{ name: 'r', bytes: 1, sha256: 'a'.repeat(64), ref: recorded }])
  const orphan = `${ended.runId}.a1.files.orphan`
  await put(orphan)
  for (const name of [`${ended.runId}.a1.json`, `${ended.runId}.a2.files.x`, `${open.runId}.a1.files.x`])
    await put(name)
  await put(`${UNKNOWN}.a1.files.x`)
  const all = await names()
  await settle(db, ended, 'fail', { error: { class: 'Boom', message: 'x', stack: null } })
  await sweep.next()
  expect(await names(), 'the attempt ended a moment ago').toEqual(all)

  await db.database.shiftClock('25 hours')
  clock.nowMs += hour(25)
  await sweep.next()
  expect(await names()).toEqual(all.filter((name) => name !== orphan))
})

it('goes through the names some at a time, and begins again a day later', async () => {
  const { blob, clock, sweep, put } = await setUp(2)
  for (const name of ['a', 'b', 'c']) await put(name)
  let walks = 0
  const { names } = blob
  blob.names = () => {
    walks += 1
    return names()
  }
  expect([await sweep.next(), await sweep.next(), await sweep.next(), walks]).toEqual([true, false, false, 1])
  clock.nowMs += hour(25)
  expect([await sweep.next(), walks]).toEqual([true, 2])
  await sweep.stop()
})
