import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import { signingKey } from './signing-key.ts'

let db: TestStore
beforeAll(async () => {
  db = await openTestStore('18')
})
afterAll(() => db.close())

test('everybody who asks has the same key, also those who ask first at once', async () => {
  const keys = await Promise.all(Array.from({ length: 8 }, () => signingKey(db.database.pool, 'unsubscribe')))
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[A-Za-z0-9_-]{43}$/)
  expect(await db.store.signingKey('unsubscribe')).toBe(keys[0])
})
