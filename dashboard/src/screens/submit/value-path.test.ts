import fc from 'fast-check'
import { expect, test } from 'vitest'
import { getAt, isSameJson, type Path, pointerOf, setAt, stepsOf } from './value-path.ts'

test('a place is read, replaced, added and removed, and nothing is changed in place', () => {
  const value = { a: { b: [1, 2, 3] }, c: 'x' }
  expect(getAt(value, ['a', 'b', 1])).toBe(2)
  expect(setAt(value, ['a', 'b', 1], 9)).toEqual({ a: { b: [1, 9, 3] }, c: 'x' })
  expect(setAt(value, ['a', 'b', 1], undefined)).toEqual({ a: { b: [1, 3] }, c: 'x' })
  expect(setAt(value, ['a', 'b', 3], 4)).toEqual({ a: { b: [1, 2, 3, 4] }, c: 'x' })
  expect(setAt(value, ['d', 'e'], true)).toEqual({ ...value, d: { e: true } })
  expect(setAt(value, ['c'], undefined)).toEqual({ a: { b: [1, 2, 3] } })
  expect(setAt(value, ['d', 'e'], undefined)).toBe(value)
  expect(setAt({ c: 'x' }, ['c', 0], 1)).toEqual({ c: [1] })
  expect(value).toEqual({ a: { b: [1, 2, 3] }, c: 'x' })
})

test('names stay in their order, and a member called __proto__ is one like any other', () => {
  expect(Object.keys(setAt({ a: 1, b: 2 }, ['a'], 3) as object)).toEqual(['a', 'b'])
  const tricky = JSON.parse('{"__proto__": {"x": 1}}')
  expect(JSON.stringify(setAt(tricky, ['b'], 1))).toBe('{"__proto__":{"x":1},"b":1}')
  expect(JSON.stringify(setAt({}, ['__proto__'], 1))).toBe('{"__proto__":1}')
  expect(getAt({}, ['__proto__'])).toBeUndefined()
  expect(getAt({}, ['constructor', 'name'])).toBeUndefined()
})

test('pointers are written and read by RFC 6901', () => {
  expect(pointerOf(['a/b', 'c~d', 0])).toBe('/a~1b/c~0d/0')
  fc.assert(
    fc.property(fc.array(fc.string()), (steps) => {
      expect(stepsOf(pointerOf(steps))).toEqual(steps)
    }),
  )
})

test('what was set is there, and every other place is as it was', () => {
  const path: fc.Arbitrary<Path> = fc.array(fc.string(), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), path, fc.jsonValue(), (value, at, next) => {
      const changed = setAt(value, at, next)
      expect(isSameJson(getAt(changed, at), next)).toBe(true)
      for (const [name, member] of Object.entries(value)) {
        if (name !== at[0]) expect(getAt(changed, [name])).toBe(member)
      }
    }),
  )
})
