import type { Run, Step } from '@holdfast/client'
import { expect, test } from 'vitest'
import { factRows } from './facts.ts'
import { stepPairs } from './step-pairs.ts'
import { verdictOf } from './verdict.ts'

function run(more: Partial<Run> = {}): Run {
  return {
    run_id: 'a',
    model: 'forecast',
    model_version: '1',
    status: 'SUCCEEDED',
    owner: 'alice',
    queue: 'default',
    priority: 0,
    created_at: '2030-01-01T00:00:00Z',
    started_at: '2030-01-01T00:00:02Z',
    finished_at: '2030-01-01T00:00:12Z',
    attempt_count: 1,
    max_attempts: 3,
    attempts: null,
    last_error: null,
    payload_hash: 'p',
    result_hash: 'r',
    tags: [],
    cost: null,
    ...more,
  } as Run
}

test('facts that differ are told, with how much longer it took; times of day are incidental', () => {
  const b = run({
    model_version: '2',
    created_at: '2030-01-02T00:00:00Z',
    started_at: '2030-01-02T00:00:02Z',
    finished_at: '2030-01-02T00:00:17Z',
  })
  const different = factRows(run(), b).filter(({ isSame }) => !isSame)
  expect(different.filter(({ isIncidental }) => !isIncidental)).toMatchObject([
    { name: 'Version', a: '1', b: '2' },
    { name: 'Duration', a: '10 s', b: '15 s', change: '+5 s (+50 %)' },
  ])
  expect(different.filter(({ isIncidental }) => isIncidental).map(({ name }) => name)).toEqual([
    'Created',
    'Started',
    'Finished',
  ])
})

test('a run that has not begun has no times', () => {
  const waiting = run({ status: 'PENDING', started_at: null, finished_at: null })
  const rows = factRows(waiting, run())
  expect(rows.find(({ name }) => name === 'Duration')).toMatchObject({ a: '–', b: '10 s', change: null })
})

test.each([
  [{}, {}, 'Same input, same result.'],
  [{}, { result_hash: 'other' }, 'Same input, but different results.'],
  [{}, { payload_hash: 'other' }, 'Different input, but the same result.'],
  [{}, { payload_hash: 'other', result_hash: 'other' }, 'Different input, different results.'],
  [{}, { status: 'FAILED' as const, result_hash: null }, 'Same input.'],
])('%j and %j: %s', (a, b, text) => expect(verdictOf(run(a), run(b)).text).toBe(text))

test('why there is no result to compare is said', () => {
  const failed = run({ status: 'FAILED', result_hash: null })
  expect(verdictOf(run(), failed).detail).toBe('Run B failed and has no result.')
  expect(verdictOf(run({ status: 'RUNNING', result_hash: null }), failed).detail).toContain('Run A is RUNNING')
})

test('steps are matched by name, on one scale', () => {
  const step = (name: string, seconds: number | null) =>
    ({ name, state: 'SUCCEEDED', duration_seconds: seconds, tries: 1, from_run_id: null }) as Step
  expect(stepPairs([step('load', 2), step('fit', 8)], [step('load', 4), step('report', null)])).toMatchObject([
    { name: 'load', aPart: 0.25, bPart: 0.5, change: '+2 s (+100 %)' },
    { name: 'fit', aPart: 1, b: null, change: null },
    { name: 'report', a: null, bPart: 0 },
  ])
})
