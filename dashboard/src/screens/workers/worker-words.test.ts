import type { Worker } from '@holdfast/client'
import { expect, test } from 'vitest'
import { modelsOf, queuesOf, stateNamed } from './worker-words.ts'

const worker = {
  queues: [{ queue: 'gpu', limit: 2 }],
  models: [
    { model: 'forecast@1.2', limit: null },
    { model: 'a@b@3', limit: 1 },
    { model: 'any', limit: null },
  ],
} as Worker

test('only states that exist are states', () => {
  expect(stateNamed('silent')).toBe('silent')
  expect(stateNamed('dead')).toBeUndefined()
  expect(stateNamed(undefined)).toBeUndefined()
})

test('what it takes leads to the queue and to the version of the model', () => {
  expect(queuesOf(worker)).toEqual([{ name: 'gpu', to: '/queues', search: { queue: 'gpu' }, note: 'at most 2' }])
  expect(modelsOf(worker).map(({ search, note }) => [search, note])).toEqual([
    [{ model: 'forecast', version: '1.2' }, null],
    [{ model: 'a@b', version: '3' }, 'at most 1'],
    [{ model: 'any', version: undefined }, null],
  ])
})
