import { describe, expect, it } from 'vitest'
import { childrenOf, GROUP_SIZE, openRows, openUpTo, rootOf, wayTo } from './json-view-tree.ts'

const names = (rows: { name: unknown }[]) => rows.map(({ name }) => name)

describe('a tree of JSON', () => {
  const value = { a: 1, list: [{ x: null }, 'two'], empty: {} }

  it('shows only what is open, in the order of the value', () => {
    const root = rootOf(value)
    expect(openRows(root, new Set())).toHaveLength(1)
    const list = childrenOf(root)[1]!
    expect(names(openRows(root, new Set([root.id, list.id])))).toEqual([null, 'a', 'list', 0, 1, 'empty'])
  })

  it('opens the outer before the inner, as long as there is room', () => {
    const root = rootOf(value)
    expect(openUpTo(root, 100)).toMatchObject({ isAll: true })
    expect(names(openRows(root, openUpTo(root, 100).open))).toEqual([null, 'a', 'list', 0, 'x', 1, 'empty'])
    const { open, isAll } = openUpTo(root, 4)
    expect([names(openRows(root, open)), isAll]).toEqual([[null, 'a', 'list', 'empty'], false])
  })

  it('parts what is long into groups, and groups of groups', () => {
    const root = rootOf(Array.from({ length: 2_500 }, (_, index) => index))
    const groups = childrenOf(root)
    expect(groups.map(({ group }) => group)).toEqual([
      { from: 0, to: 999 },
      { from: 1_000, to: 1_999 },
      { from: 2_000, to: 2_499 },
    ])
    expect(childrenOf(groups[2]!)).toHaveLength(500)
    expect(childrenOf(groups[2]!)[0]).toMatchObject({ name: 2_000, value: 2_000, path: [2_000] })
    const large = childrenOf(rootOf(Array.from({ length: GROUP_SIZE * GROUP_SIZE + 1 }, () => 0)))
    expect(large).toHaveLength(2)
    expect(childrenOf(large[0]!)).toHaveLength(GROUP_SIZE)
  })

  it('parts large objects alike', () => {
    const root = rootOf(Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`n${index}`, index])))
    const [, last] = childrenOf(root)
    expect(names(childrenOf(last!))).toEqual(['n1000'])
  })

  it('finds the way to a value through all groups', () => {
    const root = rootOf({ rows: Array.from({ length: GROUP_SIZE * GROUP_SIZE + 5 }, (_, id) => ({ id })) })
    const { open, id } = wayTo(root, ['rows', 1_234, 'id'])
    const found = openRows(root, new Set(open)).find((row) => row.id === id)
    expect(found).toMatchObject({ value: 1_234, path: ['rows', 1_234, 'id'] })
  })

  it('does not mistake a name of an object for the place in a list', () => {
    const root = rootOf({ 7: 'seven', constructor: 1 })
    const { open, id } = wayTo(root, ['constructor'])
    expect(openRows(root, new Set(open)).find((row) => row.id === id)?.value).toBe(1)
  })
})
