import { expect, test } from 'vitest'
import { API_CONFIG, BODY, MODEL } from '../../test/support/api.ts'
import type { SubmitBody } from '../contract/submit.ts'
import type { ModelDefinition } from '../run/definition.ts'
import type { RetryPolicyInput } from '../run/retry.ts'
import { resolveRun } from './resolve-run.ts'

type Given = { model?: Partial<ModelDefinition>; queue?: RetryPolicyInput; retry?: RetryPolicyInput; key?: string }

function resolve(body: Partial<SubmitBody> = {}, { model, queue = {}, retry = {}, key }: Given = {}) {
  const queues = new Map(['default', 'gpu'].map((name) => [name, { queue: name, paused: false, retry: queue }]))
  const config = { ...API_CONFIG, retry }
  const sender = { owner: 'ana', key: key ?? null, traceParent: null }
  return resolveRun('id', { ...BODY, ...body }, sender, { model: { ...MODEL, ...model }, queues, config, nowMs: 0 })
}

test.each([
  [{ timeoutSeconds: 7, expectedSeconds: 100 }, 7],
  [{ timeoutSeconds: null, expectedSeconds: 100 }, 300],
  [{ timeoutSeconds: null, expectedSeconds: null }, 86_400],
])('the timeout of a model with %j is %i s', (model, seconds) => {
  expect(resolve({}, { model }).timeoutSeconds).toBe(seconds)
})

test.each([
  [{}, 3],
  [{ retry: { maxAttempts: 5 } }, 5],
  [{ retry: { maxAttempts: 5 }, queue: { maxAttempts: 6 } }, 6],
  [{ retry: { maxAttempts: 5 }, queue: { maxAttempts: 6 }, model: { retry: { maxAttempts: 7 } } }, 7],
])('attempts come from model over queue over global: %j gives %i', (given, attempts) => {
  expect(resolve({}, given).maxAttempts).toBe(attempts)
})

test('a request may ask for less than the model allows', () => {
  expect(resolve({ max_attempts: 1, timeout_seconds: 0.5 })).toMatchObject({ maxAttempts: 1, timeoutSeconds: 0.5 })
})

test('any known queue may be asked for', () => {
  expect(resolve({ queue: 'gpu' }).queue).toBe('gpu')
})

test('an inline model may be asked to run in a process', () => {
  expect(resolve({ executor: 'process' }, { model: { executor: 'inline' } }).executor).toBe('process')
})

test('a declared model runs on its own executor, or on another that it allows', () => {
  const model = { executor: 'command', executors: ['command', 'ray'] }
  expect(resolve({}, { model }).executor).toBe('command')
  expect(resolve({ executor: 'ray' }, { model }).executor).toBe('ray')
  expect(() => resolve({ executor: 'process' }, { model })).toThrow('must be command or ray')
  expect(() => resolve({ executor: 'process' }, { model: { executor: 'remote' } })).toThrow('must be remote')
})

test.each([
  [{}, undefined, null, { dedupe: 'active', windowSeconds: 600 }],
  [{}, 'k', { key: 'k', ttlSeconds: 86_400 }, null],
  [{ dedupe: 'active' as const }, 'k', { key: 'k', ttlSeconds: 86_400 }, { dedupe: 'active', windowSeconds: 600 }],
  [{ dedupe: 'off' as const }, undefined, null, null],
  [{ dedupe: 'succeeded' as const }, undefined, null, { dedupe: 'succeeded', windowSeconds: 600 }],
  [{ idempotency_ttl_seconds: 5 }, undefined, null, { dedupe: 'active', windowSeconds: 5 }],
  [{ idempotency_ttl_seconds: 5 }, 'k', { key: 'k', ttlSeconds: 5 }, null],
])('a body with %j and the key %s takes its names', (body, key, keyName, slot) => {
  expect(resolve(body, { key })).toMatchObject({ key: keyName, slot })
})

test('parameters a model leaves out of the hash are kept', () => {
  const model = { ignoreInHash: ['note'] }
  const one = resolve({ parameters: { scenario: 's', note: 1 } }, { model })
  const other = resolve({ parameters: { scenario: 's', note: 2 } }, { model })
  expect(one.payloadHash).toBe(other.payloadHash)
  expect(one.parametersText).toBe('{"months":24,"note":1,"scenario":"s"}')
})

test('the same parameters for another version are another payload', () => {
  expect(resolve().payloadHash).not.toBe(resolve({}, { model: { version: '2' } }).payloadHash)
})
