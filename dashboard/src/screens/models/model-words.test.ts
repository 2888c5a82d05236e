import type { ModelInfo, RetryPolicy } from '@holdfast/client'
import { expect, test } from 'vitest'
import { costWords, keyWords, matches, offeredLook, retriedErrors, retryWords, secondsWords } from './model-words.ts'

const RETRY: RetryPolicy = {
  max_attempts: 3,
  backoff: 'list',
  base_delay_seconds: 5,
  max_delay_seconds: 3_600,
  factor: 4,
  delays_seconds: [5, 20, 60],
  jitter: 0.1,
  retry_on: null,
  no_retry_on: [],
}

test('retry policies of each kind', () => {
  expect(retryWords(RETRY)).toBe('3 attempts, after 5 s, 20 s, ± 10 %')
  expect(retryWords({ ...RETRY, max_attempts: 9 })).toBe('9 attempts, after 5 s, 20 s, 1 min, ± 10 %')
  expect(retryWords({ ...RETRY, backoff: 'fixed', jitter: 0 })).toBe('3 attempts, 5 s apart')
  expect(retryWords({ ...RETRY, backoff: 'exponential', jitter: 0 })).toBe(
    '3 attempts, after 5 s, each 4 times longer, at most 1 h',
  )
  expect(retryWords({ ...RETRY, max_attempts: 1 })).toBe('1 attempt, no retry')
})

test('which errors are retried', () => {
  expect(retriedErrors(RETRY)).toBeNull()
  expect(retriedErrors({ ...RETRY, retry_on: ['Timeout'], no_retry_on: ['Fatal', 'OutOfMemory'] })).toBe(
    'only Timeout; never Fatal, OutOfMemory',
  )
  expect(retriedErrors({ ...RETRY, retry_on: [] })).toBe('only none')
})

test('costs', () => {
  const cost = { rate_per_second: null, on_failure: 'actual', on_cancel: 'actual', currency: 'EUR' } as const
  expect(costWords({ ...cost, estimate: 2.5 })).toBe('about 2.5 EUR')
  expect(costWords({ ...cost, estimate: 'parameters.n * 2', rate_per_second: 0.1, on_failure: 'release' })).toBe(
    'parameters.n * 2 EUR, 0.1 EUR per second, nothing when it fails',
  )
})

test('keys, times and who offers it', () => {
  expect(keyWords({ key: '/customer', limit: 1, mode: 'queue', scope: 'owner' })).toBe(
    '1 per /customer of an owner; others wait',
  )
  expect([secondsWords(null), secondsWords(90)]).toEqual(['not set', '1 min 30 s'])
  expect(offeredLook(true, 2).word).toBe('OFFERED BY 2')
  expect(offeredLook(false, 0).word).toBe('NOT OFFERED')
})

test('a model is found by any part of its name or description', () => {
  const model = { name: 'baseline_forecast', description: null, queue: 'gpu' } as ModelInfo
  expect([matches(model, 'FORE'), matches(model, ' gpu '), matches(model, 'x'), matches(model, '')]).toEqual([
    true,
    true,
    false,
    true,
  ])
})
