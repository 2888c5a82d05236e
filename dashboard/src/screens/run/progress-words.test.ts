import { expect, test } from 'vitest'
import { progressOf } from './progress-words.ts'

test.each([
  [0.25, { fraction: 0.25, words: '25 %' }],
  [
    { done: 3, of: 4 },
    { fraction: 0.75, words: '3 of 4' },
  ],
  [
    { of: 20, epoch: 5 },
    { fraction: 0.25, words: 'epoch 5 of 20' },
  ],
  [
    { done: 1, total: 2, note: 'fitting' },
    { fraction: 0.5, words: '1 of 2 · fitting' },
  ],
  [{ percent: 40 }, { fraction: 0.4, words: '40 %' }],
  [{ fraction: 1 }, { fraction: 1, words: '100 %' }],
])('%j is a fraction', (progress, words) => expect(progressOf(progress)).toEqual(words))

test.each([
  [12, '12'],
  ['loading', 'loading'],
  [{ done: 5, of: 0 }, '{"done":5,"of":0}'],
  [{ done: 9, of: 4 }, '{"done":9,"of":4}'],
  [[1, 2], '[1,2]'],
])('%j is told in words', (progress, words) => expect(progressOf(progress)).toEqual({ fraction: null, words }))

test('nothing is nothing, and what is long is cut', () => {
  expect(progressOf(null)).toBeNull()
  expect(progressOf('x'.repeat(1_000))!.words.length).toBeLessThan(310)
})
