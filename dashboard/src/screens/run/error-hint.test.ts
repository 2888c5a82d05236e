import type { Attempt, Run } from '@holdfast/client'
import { expect, test } from 'vitest'
import { errorHint } from './error-hint.ts'

function run(more: Partial<Run>, errorClass = 'UpstreamRefused'): Run {
  const last_error = { class: errorClass, message: 'no', attempt: more.attempt_count ?? 1 }
  return { status: 'FAILED', attempt_count: 1, max_attempts: 3, attempts: [], last_error, ...more } as Run
}

test('a run that will be tried again says how often', () => {
  const hint = errorHint(run({ status: 'PENDING' }))!
  expect(hint.meaning).toBe('Attempt 1 failed; the next one comes by itself (2 attempts are left).')
  expect(hint.next).toContain('nothing to do')
})

test('a release does not use up an attempt', () => {
  const attempts = [{ state: 'RELEASED' }, { state: 'FAILED' }] as Attempt[]
  expect(errorHint(run({ status: 'PENDING', attempt_count: 2, attempts }))!.meaning).toContain('2 attempts are left')
})

test('a failure with attempts left is one that is not retried', () => {
  const { meaning, next } = errorHint(run({}))!
  expect(meaning).toContain('not tried again')
  expect(next).toContain('Edit the parameters')
})

test('after the last attempt the log is the place to look', () => {
  const { meaning, next } = errorHint(run({ attempt_count: 3 }))!
  expect(meaning).toBe('All 3 attempts were used up.')
  expect(next).toContain('log')
  expect(errorHint(run({ max_attempts: 1 }))!.meaning).toBe('Its only attempt failed.')
})

test('what Holdfast itself knows is explained', () => {
  expect(errorHint(run({ attempt_count: 3 }, 'WorkerLost'))!.meaning).toContain('The worker died')
  expect(errorHint(run({}, 'toString'))!.meaning).not.toContain('function')
})

test('a run without an error, or one that went well in the end, has none', () => {
  expect(errorHint(run({ last_error: null }))).toBeNull()
  expect(errorHint(run({ status: 'SUCCEEDED' }))).toBeNull()
})
