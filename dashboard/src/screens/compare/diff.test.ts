import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Difference, differences, pathText } from './diff.ts'

function found(a: unknown, b: unknown, withSame = false): Difference[] {
  return [...differences(a, b, { withSame })].filter((each) => each !== null)
}

const lines = (a: unknown, b: unknown, withSame = false) =>
  found(a, b, withSame).map(({ kind, path }) => `${kind} ${pathText(path)}`)

test('what is added, removed and changed is found at its place', () => {
  const a = { region: 'AU', months: 24, limits: { floor: 1 }, rows: [1, 2, 3], gone: true }
  const b = { region: 'AU', months: 36, limits: { floor: 1, ceiling: 9 }, rows: [1, 5], 'a b': 1 }
  expect(lines(a, b)).toEqual([
    'changed months',
    'added limits.ceiling',
    'changed rows[1]',
    'removed rows[2]',
    'removed gone',
    'added ["a b"]',
  ])
})

test('null, kinds and empty things are told apart; the order of names is not', () => {
  expect(lines({ a: null }, {})).toEqual(['removed a'])
  expect(lines({ a: 1 }, { a: '1' })).toEqual(['changed a'])
  expect(lines({ a: [] }, { a: {} })).toEqual(['changed a'])
  expect(lines({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([])
  expect(lines(1, 2)).toEqual(['changed –'])
  expect(lines(JSON.parse('{"__proto__": 1}'), {})).toEqual(['removed __proto__'])
})

test('with what is the same, every value is there once', () => {
  expect(lines({ a: 1, b: { c: [] } }, { a: 2, b: { c: [] } }, true)).toEqual(['changed a', 'same b.c'])
})

test('equal values have no differences, and a change is found wherever it is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(found(value, JSON.parse(JSON.stringify(value)))).toEqual([])
    }),
  )
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.nat(), (list, at) => {
      const index = at % list.length
      const other = (JSON.parse(JSON.stringify(list)) as unknown[]).with(index, { another: 'value' })
      const isSame = JSON.stringify(list[index]) === '{"another":"value"}'
      const paths = found(list, other).map(({ path }) => path[0])
      expect(new Set(paths)).toEqual(new Set(isSame ? [] : [index]))
    }),
  )
})

test('a large value gives signs of life', () => {
  const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row ${id}` }))
  const other = rows.with(19_999, { id: 19_999, name: 'other' })
  const given = [...differences({ rows }, { rows: other })]
  expect(given.filter((each) => each === null).length).toBeGreaterThan(50)
  expect(given.filter((each) => each !== null)).toHaveLength(1)
})
