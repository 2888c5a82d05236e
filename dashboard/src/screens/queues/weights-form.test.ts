import { describe, expect, test } from 'vitest'
import { isSame, rowsOf, weightsOf, withOneMore, wrongWith } from './weights-form.ts'

test('weights become rows by name and come back the same', () => {
  const weights = { zoe: 2, alice: 0.5 }
  expect(rowsOf(weights).map(({ owner }) => owner)).toEqual(['alice', 'zoe'])
  expect(weightsOf(rowsOf(weights))).toEqual(weights)
})

test('a new row has a key of its own and is left out while it has no owner', () => {
  const rows = withOneMore(rowsOf({ alice: 2 }))
  expect(rows.map(({ key }) => key)).toEqual([0, 1])
  expect(weightsOf(rows)).toEqual({ alice: 2 })
  expect(withOneMore([]).map(({ key }) => key)).toEqual([0])
})

describe('what is wrong is said at the row', () => {
  const row = (key: number, owner: string, weight: string) => ({ key, owner, weight })

  test('a weight that is none, or too small or too large', () => {
    for (const weight of ['', 'x', '0', '-1', '1001', 'Infinity']) {
      expect(wrongWith(row(0, 'alice', weight), [])).toBe('From 0.01 to 1000')
    }
    for (const weight of ['0.01', ' 1000 ', '2.5']) expect(wrongWith(row(0, 'alice', weight), [])).toBeNull()
  })

  test('an owner who is there twice, at the second of them', () => {
    const rows = [row(0, 'alice', '1'), row(1, ' alice ', '2')]
    expect(rows.map((one) => wrongWith(one, rows))).toEqual([null, 'This owner is there twice'])
    expect(weightsOf(rows)).toBeNull()
  })
})

test('the same weights in another order are the same', () => {
  expect(isSame({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true)
  expect(isSame({ a: 1 }, { a: 2 })).toBe(false)
  expect(isSame({ a: 1 }, { a: 1, b: 1 })).toBe(false)
  expect(isSame({}, {})).toBe(true)
})
