import type { Run } from '@holdfast/client'
import { expect, test } from 'vitest'
import { fingerprint, NO_OPTIONS, optionsOfRun, type Request, requestBody, submitOptions } from './run-options.ts'
import { REDACTED } from './secrets.ts'

const REQUEST: Request = {
  model: 'forecast',
  version: '2',
  parameters: { region: 'AU' },
  options: NO_OPTIONS,
  key: 'k-1',
  from: null,
}

test('what is left empty is left out', () => {
  expect(requestBody(REQUEST)).toEqual({
    model: 'forecast',
    model_version: '2',
    parameters: { region: 'AU' },
    idempotency_key: 'k-1',
  })
})

test('what is given is sent in the words of the service', () => {
  const options = {
    title: ' Q3 ',
    tags: ['a'],
    queue: 'fast',
    priority: '-5',
    availableAt: '2030-01-31T08:00',
    maxAttempts: '2',
    timeoutSeconds: '1.5',
    executor: 'process',
    dedupe: 'off',
    concurrencyKey: 'customer 7',
    concurrencyLimit: '3',
    concurrencyMode: 'refuse',
    batchId: 'b',
  }
  expect(requestBody({ ...REQUEST, options })).toEqual({
    model: 'forecast',
    model_version: '2',
    parameters: { region: 'AU' },
    idempotency_key: 'k-1',
    title: 'Q3',
    tags: ['a'],
    queue: 'fast',
    priority: -5,
    available_at: new Date('2030-01-31T08:00').toISOString(),
    max_attempts: 2,
    timeout_seconds: 1.5,
    executor: 'process',
    dedupe: 'off',
    concurrency: { key: 'customer 7', limit: 3, mode: 'refuse' },
    batch_id: 'b',
  })
})

test('what is no number goes as it is, for the service to say so', () => {
  expect(submitOptions({ ...REQUEST, options: { ...NO_OPTIONS, priority: 'high' } })).toMatchObject({
    priority: 'high',
  })
})

test('the source is named only when there is something to take from it', () => {
  expect(requestBody({ ...REQUEST, from: 'run-1' }).derived_from).toBeUndefined()
  expect(requestBody({ ...REQUEST, from: 'run-1', parameters: { api_key: REDACTED } }).derived_from).toBe('run-1')
})

test('a request is the same with another key, and another with other content', () => {
  expect(fingerprint({ ...REQUEST, key: 'k-2' })).toBe(fingerprint(REQUEST))
  expect(fingerprint({ ...REQUEST, options: { ...NO_OPTIONS, title: 'x' } })).not.toBe(fingerprint(REQUEST))
})

test('a run like another has its names, and its queue and priority where they are not the model’s own', () => {
  const run = { title: 'Q3', tags: ['a'], queue: 'fast', priority: 0 } as unknown as Run
  const options = optionsOfRun(run, { queue: 'default', priority: 0 })
  expect(options).toEqual({ ...NO_OPTIONS, title: 'Q3', tags: ['a'], queue: 'fast' })
})
