/** Keys of requests: kept for retries, noticed by who ends runs, and their places given away by the run that left them. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import type { RunKey } from '../run/runs-per-key.ts'
import { openStore } from './open-store.ts'

let on: TestStore
beforeAll(async () => {
  on = await openTestStore('18')
})
afterAll(() => on.close())

const keyed = (key: string): { concurrency: RunKey } => ({
  concurrency: { owner: 'default', key, limit: 1, mode: 'queue', isAsked: true },
})

test('a process hears of keys by its first look, not before', async () => {
  expect(on.store.blocks.areKeysInUse).toBe(false)
  await on.store.blocks.promote(10)
  expect(on.store.blocks.areKeysInUse).toBe(false)
  await on.add(keyed('first'))
  await on.store.blocks.promote(10)
  expect(on.store.blocks.areKeysInUse).toBe(true)
})

test('what a request asked for is an event of its run, also of one that waits, and outlives the hold', async () => {
  const runs = [await on.add(keyed('kept')), await on.add(keyed('kept'))]
  for (const run of runs) expect((await on.events(run.id)).slice(0, 2)).toEqual(['created', 'keyed'])
  await on.store.cancel(runs[0]!.id)
  await on.store.blocks.promoteAfter([runs[0]!.id])
  expect(await on.store.blocks.askedKey(runs[0]!.id)).toEqual({ key: 'kept', limit: 1, mode: 'queue' })
  expect((await on.store.readRun(runs[1]!.id))!.run.eventSeq).toBe((await on.events(runs[1]!.id)).length)
})

test('what a model says is not recorded', async () => {
  const run = await on.add({ concurrency: { owner: 'default', key: 'model', limit: 1, mode: 'queue' } })
  expect(await on.events(run.id)).toEqual(['created'])
  expect(await on.store.blocks.askedKey(run.id)).toBeNull()
})

test('only the places of the runs that are named, and that have ended, are given away', async () => {
  const [one, two, three] = await Promise.all(['one', 'two', 'three'].map((key) => on.add(keyed(key))))
  const next = await on.add(keyed('one'))
  await Promise.all(['two', 'three'].map((key) => on.add(keyed(key))))
  const plain = await on.add()
  await on.store.cancel(one!.id)
  await on.store.cancel(two!.id)
  const given = await on.store.blocks.promoteAfter([one!.id, three!.id, plain.id])
  expect(given).toEqual({ freed: [{ runId: next.id, queue: 'default' }], stopped: [] })
})

test('given away by several at once, a place goes to one', async () => {
  const first = await on.add(keyed('race'))
  await Promise.all([1, 2, 3].map(() => on.add(keyed('race'))))
  await on.store.cancel(first.id)
  const other = openStore({ url: on.database.url })
  const given = await Promise.all([on.store, other, on.store].map(({ blocks }) => blocks.promoteAfter([first.id])))
  await other.close()
  expect(given.flatMap(({ freed }) => freed)).toHaveLength(1)
})
