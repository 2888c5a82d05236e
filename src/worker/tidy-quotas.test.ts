/** The janitor's work on quotas with the store played by the test: when it looks, and when it rests. */

import { expect, it } from 'vitest'
import { createTidyQuotas } from './tidy-quotas.ts'

function setUp(takesMs: number, more: boolean[] = []) {
  let nowMs = 0
  const looks = { quotas: 0, reservations: 0 }
  const store = {
    quotas: {
      tidy: async () => {
        nowMs += takesMs
        return more[looks.quotas++] ?? false
      },
    },
    reservations: {
      tidy: async () => {
        looks.reservations += 1
        return false
      },
    },
  }
  const tidy = createTidyQuotas(() => nowMs)
  return { looks, tidy: () => tidy({ store }), pass: (ms: number) => (nowMs += ms) }
}

it('both are looked at', async () => {
  const { tidy, looks } = setUp(1)
  expect(await tidy()).toBe(false)
  expect(looks).toEqual({ quotas: 1, reservations: 1 })
})

it('a look that takes long is followed by a rest', async () => {
  const { tidy, looks, pass } = setUp(100)
  await tidy()
  pass(1_900)
  await tidy()
  expect(looks.quotas).toBe(1)
  pass(200)
  await tidy()
  expect(looks.quotas).toBe(2)
})

it('where there is more, the next look is taken at once', async () => {
  const { tidy, looks } = setUp(100, [true])
  expect(await tidy()).toBe(true)
  expect(await tidy()).toBe(false)
  expect(looks.quotas).toBe(2)
})

it('a store without quotas is left alone', async () => {
  expect(await createTidyQuotas()({ store: {} })).toBe(false)
})
