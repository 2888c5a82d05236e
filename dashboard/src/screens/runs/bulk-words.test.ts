import type { BulkOperation } from '@holdfast/client'
import { expect, it } from 'vitest'
import { actWords, bulkConditions, outcomesOf, runsWords, stateWords, whatHappens } from './bulk-words.ts'

const operation = (more: Partial<BulkOperation>) =>
  ({
    action: 'retry',
    state: 'RUNNING',
    processed: 12,
    cancel_requested_at: null,
    counts: {},
    ...more,
  }) as BulkOperation

it('a count that stopped says at least', () => {
  expect(runsWords({ count: 1, capped: false })).toBe('1 run')
  expect(actWords('cancel', { count: 200, capped: false })).toBe('Cancel 200 runs')
  expect(actWords('retry', { count: 10_000, capped: true })).toBe('Retry at least 10,000 runs')
})

it('no filter is told to the service as what the act is about', () => {
  expect(bulkConditions('cancel', []).map(({ value }) => value)).toEqual(['PENDING', 'RUNNING'])
  expect(bulkConditions('retry', []).map(({ value }) => value)).toEqual(['FAILED'])
  const asked = [{ name: 'model' as const, isNot: false, value: 'a' }]
  expect(bulkConditions('retry', asked)).toBe(asked)
})

it('says which runs are retried', () => {
  expect(whatHappens('retry', [])).toMatch(/^Each FAILED run/)
  expect(whatHappens('retry', [{ name: 'status', isNot: false, value: 'CANCELLED' }])).toMatch(/^Each CANCELLED run/)
  expect(whatHappens('cancel', [])).toMatch(/asked to stop/)
})

it('says where it is', () => {
  expect(stateWords(operation({}), 200)).toBe('Retrying runs: 12 of 200 done')
  expect(stateWords(operation({}), null)).toBe('Retrying runs: 12 done')
  expect(stateWords(operation({ cancel_requested_at: 'x' }), 200)).toBe('Stopping after 12 of 200 runs')
  expect(stateWords(operation({ state: 'DONE', action: 'cancel', processed: 1 }), 200)).toBe(
    'Cancel finished: 1 run looked at',
  )
  expect(stateWords(operation({ state: 'CANCELLED' }), 5)).toBe('Retry stopped after 12 runs')
})

it('shows what went wrong first and leaves out what did not happen', () => {
  const counts = { retried: 3, refused: 1, not_found: 0 } as BulkOperation['counts']
  expect(outcomesOf(operation({ counts }))).toEqual([
    { outcome: 'refused', count: 1 },
    { outcome: 'retried', count: 3 },
  ])
})
