import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openTestStore, settle, type TestStore } from '../../test/support/store.ts'

const UNKNOWN = '01890a0b-0c0d-7000-8000-000000000000'

let db: TestStore
beforeAll(async () => {
  db = await openTestStore('18')
})
afterEach(() => db.clear())
afterAll(() => db.close())

const unnamed = async (...names: string[]) =>
  (await db.store.blobs.unnamed(names.map((name) => `artifacts/${name}`))).map((ref) => ref.slice(10)).toSorted()

it('names bytes whose run, upload or attempt is not known at all', async () => {
  const names = ['.a1.files.x', '.a1.json', '.a1.log-x', '.file', '.part-0-x', '.step-x.json'].map(
    (end) => UNKNOWN + end,
  )
  expect(await unnamed(...names)).toEqual(names)
})

it('never names what has another shape than ours', async () => {
  const names = ['a', 'readme.txt', UNKNOWN, `${UNKNOWN}.other`, `${UNKNOWN}.a1.jsonx`, `${UNKNOWN}.ax.json`, 'x.file']
  expect(await unnamed(...names)).toEqual([])
})

it('leaves the bytes of an open attempt alone, and of an ended one those on record', async () => {
  const [open, ended] = [await db.running(), await db.running()]
  const named = `${ended.runId}.a1.json`
  const recorded = `${ended.runId}.a1.files.recorded`
  const artifact = { name: 'r', bytes: 1, sha256: 'a'.repeat(64), ref: `artifacts/${recorded}` }
  await db.store.artifacts.record(ended, [artifact])
  await settle(db, ended, 'succeed', { result: { ref: `artifacts/${named}`, hash: 'a'.repeat(64), text: null } })
  const orphans = [`${ended.runId}.a1.files.orphan`, `${ended.runId}.a2.json`]
  const ofOpen = ['a1.json', 'a1.files.x', 'step-x.json'].map((end) => `${open.runId}.${end}`)
  expect(await unnamed(named, recorded, ...orphans, ...ofOpen)).toEqual(orphans)
})

it('tells the outputs of steps that were kept from those that were not, once the run is over', async () => {
  const lease = await db.running()
  const [kept, lost] = ['kept', 'lost'].map((name) => `${lease.runId}.step-${name}.json`)
  await db.database.query(
    `INSERT INTO run_steps (run_id, name, no, attempt, finished_at, tries, output_ref, output_hash, output_bytes)
     VALUES ($1, 'one', 1, 1, now(), 1, $2, 'h', 1)`,
    [lease.runId, `artifacts/${kept}`],
  )
  expect(await unnamed(kept!, lost!)).toEqual([])
  await settle(db, lease, 'fail', { error: { class: 'Boom', message: 'x', stack: null } })
  expect(await unnamed(kept!, lost!)).toEqual([lost])
})

it('tells files and parts by where they are', async () => {
  await db.database.query(
    `INSERT INTO files (id, bytes, type, ref, created_at) VALUES (repeat('a', 64), 1, 'text/plain', $1, now())`,
    [`artifacts/${UNKNOWN}.file`],
  )
  const other = UNKNOWN.replace('0189', '0190')
  expect(await unnamed(`${UNKNOWN}.file`, `${other}.file`, `${other}.part-0-a`)).toEqual([
    `${other}.file`,
    `${other}.part-0-a`,
  ])
})
