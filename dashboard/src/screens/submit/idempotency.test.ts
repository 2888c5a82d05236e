import { expect, test } from 'vitest'
import { freshKey, keyFor, ownKey } from './idempotency.ts'

test('keys are long, printable and never the same', () => {
  const keys = new Set(Array.from({ length: 100 }, () => freshKey().key))
  expect(keys.size).toBe(100)
  for (const key of keys) expect(key).toMatch(/^ui-[0-9a-f]{32}$/)
})

test('the same request keeps its key, also after it was edited before anyone accepted it', () => {
  const key = freshKey()
  expect(keyFor(key, 'a')).toBe(key)
  expect(keyFor({ ...key, acceptedFor: 'a' }, 'a')).toMatchObject({ key: key.key })
})

test('another request than the accepted one gets a new key, unless it was chosen', () => {
  const accepted = { ...freshKey(), acceptedFor: 'a' }
  expect(keyFor(accepted, 'b').key).not.toBe(accepted.key)
  expect(keyFor({ ...ownKey('mine'), acceptedFor: 'a' }, 'b').key).toBe('mine')
})
