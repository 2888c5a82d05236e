/** What the sweep removes, in what order, and what happens when it dies or fails on the way. */

import { expect, it } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import { createMemoryBlobStore } from '../blob/memory.ts'
import { createBlobSweep, DAY_MS, type SweepDeps, type SweepOptions, type Swept, sweepBlobs } from './sweep-blobs.ts'

async function setUp(options: SweepOptions = {}) {
  const clock = { nowMs: Date.now() }
  const blob = createMemoryBlobStore({ now: () => new Date(clock.nowMs) })
  const rows = { expired: [] as string[], released: [] as string[], named: new Set<string>() }
  const store: SweepDeps['store'] = {
    blobs: { unnamed: async (refs) => refs.filter((ref) => !rows.named.has(ref)) },
    files: { collect: async ({ limit }) => rows.released.splice(0, limit) },
    resumableUploads: { removeExpired: async (limit) => rows.expired.splice(0, limit) },
  }
  const put = async (...names: string[]) => {
    for (const name of names) await blob.put(name, Buffer.from('12'))
  }
  const names = async () => {
    const found: string[] = []
    for await (const { name } of blob.list()) found.push(name)
    return found
  }
  const all = { now: () => clock.nowMs, ...options }
  async function sweep(more: SweepOptions = {}): Promise<Swept[]> {
    const swept: Swept[] = []
    for await (const some of sweepBlobs({ blob, store }, { ...all, ...more })) swept.push(...some)
    return swept
  }
  const { log, lines } = recordingLog()
  const daily = createBlobSweep({ blob, store, log, nowMs: () => clock.nowMs }, all)
  return { clock, blob, store, rows, put, names, sweep, daily, lines }
}

it('removes what no row names once it is a day old, and nothing younger', async () => {
  const { clock, rows, put, names, sweep } = await setUp()
  await put('old', 'named')
  rows.named.add('artifacts/named')
  clock.nowMs += DAY_MS - 1
  await put('young')
  expect([await sweep(), await names()]).toEqual([[], ['old', 'named', 'young']])
  clock.nowMs += 1
  expect(await sweep()).toEqual([{ reason: 'unnamed', name: 'old', bytes: 2, count: 1 }])
  expect(await names()).toEqual(['named', 'young'])
})

it('removes the bytes of expired uploads and released files', async () => {
  const { rows, put, names, sweep } = await setUp()
  await put('part', 'file', 'other')
  rows.expired.push('artifacts/part')
  rows.released.push('artifacts/file')
  expect((await sweep()).map(({ reason, name }) => `${reason} ${name}`)).toEqual([
    'expired-upload part',
    'released-file file',
  ])
  expect(await names()).toEqual(['other'])
})

it('finds what a sweep left that died after the row was gone', async () => {
  const { clock, rows, put, names, sweep, blob } = await setUp()
  await put('file')
  rows.released.push('artifacts/file')
  const { delete: remove } = blob
  blob.delete = () => Promise.reject(new Error('killed'))
  await expect(sweep()).rejects.toThrow('killed')
  blob.delete = remove
  clock.nowMs += DAY_MS
  await sweep()
  expect(await names()).toEqual([])
})

it('removes nothing when it is only to look', async () => {
  const { clock, rows, put, names, sweep } = await setUp()
  await put('old', 'part')
  rows.expired.push('artifacts/part')
  rows.named.add('artifacts/part')
  clock.nowMs += DAY_MS
  expect(await sweep({ isDryRun: true })).toMatchObject([{ name: 'old' }])
  expect([await names(), rows.expired]).toEqual([['old', 'part'], ['artifacts/part']])
})

it('counts the puts that never came to their end', async () => {
  const { blob, sweep } = await setUp()
  blob.removeUnfinished = async (olderThanMs) => (olderThanMs === 5 ? 3 : 0)
  expect(await sweep({ olderThanMs: 5 })).toEqual([{ reason: 'unfinished', name: null, bytes: null, count: 3 }])
})

it('goes through the names some at a time, each day once', async () => {
  const { clock, put, names, daily, lines } = await setUp({ namesMax: 2 })
  await put('a', 'b', 'c')
  clock.nowMs += DAY_MS
  expect(await daily.next()).toBe(true)
  expect(await names()).toEqual(['c'])
  while (await daily.next());
  expect([await names(), lines.length]).toEqual([[], 3])
  await put('d')
  clock.nowMs += DAY_MS - 1
  expect(await daily.next()).toBe(false)
  clock.nowMs += 1
  while (await daily.next());
  expect(await names()).toEqual([])
  await daily.stop()
})

it('begins its round again after a failure', async () => {
  const { clock, put, names, daily, store } = await setUp()
  await put('a')
  clock.nowMs += DAY_MS
  const { unnamed } = store.blobs
  store.blobs.unnamed = () => Promise.reject(new Error('no database'))
  await expect(daily.next()).rejects.toThrow('no database')
  store.blobs.unnamed = unnamed
  while (await daily.next());
  expect(await names()).toEqual([])
})
