import { expect, test } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { kindsOfBatch } from './kind-of-run.ts'
import type { NewRun } from './store.ts'

const KEY = { key: 'a', ttlSeconds: 60 }
const SLOT = { dedupe: 'active', windowSeconds: 600 } as const

test.each<[string, Partial<NewRun>]>([
  ['model', { model: 'other' }],
  ['version', { modelVersion: '9' }],
  ['queue', { queue: 'other' }],
  ['priority', { priority: 7 }],
  ['executor', { executor: 'process' }],
  ['timeout', { timeoutSeconds: 7 }],
  ['expected time', { expectedSeconds: 7 }],
  ['attempts', { maxAttempts: 7 }],
  ['owner', { owner: 'other' }],
  ['number of names', { key: KEY, retryOf: '01890a0b-0c0d-7000-8000-000000000001' }],
  ['window', { slot: { ...SLOT, windowSeconds: 7 } }],
  ['kind of slot', { slot: { ...SLOT, dedupe: 'succeeded' } }],
  ['having a slot', { slot: null }],
])('runs that differ in %s are of two kinds, wherever they stand in the batch', (_what, change) => {
  const base: Partial<NewRun> = { key: KEY, slot: SLOT }
  const runs = [base, base, { ...base, ...change }, base].map((changes) => newRun(changes))
  const { kinds, numbers } = kindsOfBatch(runs, () => 1)
  expect(numbers).toEqual([1, 1, 2, 1])
  expect(kinds.map((column) => column.length)).toEqual(kinds.map(() => 2))
})

test('runs that differ only in what is their own are of one kind', () => {
  const runs = [newRun({ key: KEY }), newRun({ key: { key: 'b', ttlSeconds: 7 }, title: 'another', tags: ['x'] })]
  expect(kindsOfBatch(runs, () => 1).numbers).toEqual([1, 1])
})
