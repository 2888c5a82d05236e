import { expect, test } from 'vitest'
import { sightOf } from './fixed-rows.ts'

test('what is in sight, and some rows around it', () => {
  expect(sightOf(0, 400, 20)).toEqual({ first: 0, last: 35 })
  expect(sightOf(2_000, 400, 20)).toEqual({ first: 85, last: 135 })
  expect(sightOf(1_999, 401, 20)).toEqual({ first: 84, last: 135 })
})
