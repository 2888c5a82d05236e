/** The look-ups of docs/operating/quotas.md, as they stand there: each runs, and finds what it says. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { accepted, openTestStore, type TestStore } from '../../test/support/store.ts'

const PAGE = readFileSync(new URL('../../docs/operating/quotas.md', import.meta.url), 'utf8')
const LOOK_UPS = new Map([...PAGE.matchAll(/```sql\n-- (.*)\n([\s\S]*?)```/g)].map(([, name, sql]) => [name!, sql!]))

let t: TestStore
const runs: Record<string, string> = {}
beforeAll(async () => {
  t = await openTestStore('18')
  const submit = async (owner: string, key: string, ttlSeconds: number) => {
    const run = newRun({ owner, slot: null, key: { key, ttlSeconds } })
    runs[key] = accepted(await t.store.submit(run)).run.id
  }
  await submit('ana', 'nightly-2030-01-31', 3600)
  await submit('ana', 'short', 60)
  await submit('ben', 'ended', 60)
  await t.store.cancel(runs.ended!)
  const reserve = (owner: string, ttlSeconds: number) =>
    t.store.reservations.reserve({ id: randomUUID(), owner, model: null, ttlSeconds, cost: null })
  await reserve('ana', 3600)
  await reserve('cleo', 3600)
  await reserve('cleo', 60)
  await t.database.shiftClock('2 minutes')
})
afterAll(() => t.close())

const look = (name: string) => t.database.query<Record<string, unknown>>(LOOK_UPS.get(name)!)

test('every look-up of the page is tried here', () => {
  expect([...LOOK_UPS.keys()]).toEqual([
    'a key',
    'active keys, newest first',
    'active reservations',
    'active slots per owner',
    'changes of quotas',
  ])
})

test('R415: a key', async () => {
  expect(await look('a key')).toMatchObject([
    { owner: 'ana', run_id: runs['nightly-2030-01-31'], status: 'PENDING', is_expired: false },
  ])
})

test('R415: active keys, newest first: those of ended runs only while they last', async () => {
  expect((await look('active keys, newest first')).map(({ key }) => key)).toEqual(['short', 'nightly-2030-01-31'])
})

test('R415: active reservations, without what is past its time', async () => {
  expect((await look('active reservations')).map(({ owner }) => owner)).toEqual(['cleo', 'ana'])
})

test('R415: active slots per owner', async () => {
  const rows = await look('active slots per owner')
  expect(rows.map(({ owner, runs, reservations, used }) => [owner, ...[runs, reservations, used].map(Number)])).toEqual(
    [
      ['ana', 2, 1, 3],
      ['cleo', 0, 1, 1],
    ],
  )
})

test('changes of quotas', async () => {
  const actor = { tokenId: null, owner: 'root', requestId: null }
  await t.store.audit.record({ actor, action: 'quota.put', target: 'ana', data: { max_concurrent: 5 } })
  expect(await look('changes of quotas')).toMatchObject([{ actor_owner: 'root', target: 'ana' }])
})
