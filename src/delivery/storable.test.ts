import { expect, it } from 'vitest'
import { storable, storableText } from './storable.ts'

it('takes what Postgres refuses out of text, at any depth and in names', () => {
  expect(storable({ 'a\0': ['x\0y', { b: '\ud800' }], n: 1, none: null })).toEqual({
    'a\uFFFD': ['x\uFFFDy', { b: '\uFFFD' }],
    n: 1,
    none: null,
  })
})

it('leaves text that only looks like an escape as it is', () => {
  expect(storable('\\u0000')).toBe('\\u0000')
})

it('cuts text without end, and says so', () => {
  const cut = storableText('x'.repeat(1_000_000))
  expect(cut.length).toBeLessThan(66_000)
  expect(cut).toMatch(/\[cut\]$/)
})

it('is null for what has no JSON', () => {
  const circle: Record<string, unknown> = {}
  circle.itself = circle
  expect([circle, 1n, undefined, () => 1].map(storable)).toEqual([null, null, null, null])
})
