import { describe, expect, it } from 'vitest'
import { foundIn, linesOf, pathText } from './json-view-walk.ts'

const value = { name: 'Ada', list: [1, [], { 'a b': null, empty: {} }], text: 'a "quoted" line\nand another', ok: true }

describe('walking through JSON', () => {
  it('writes the same lines as JSON.stringify', () => {
    for (const one of [value, [], {}, null, 'x', 5, [[[]]]]) {
      expect([...linesOf(one)].join('\n')).toBe(JSON.stringify(one, null, 2))
    }
  })

  it('finds names and values, whatever the case, in the order of the value', () => {
    const found = (text: string) => [...foundIn(value, text)].filter((path) => path !== null)
    expect(found('ADA')).toEqual([['name']])
    expect(found('a')).toEqual([['name'], ['list', 2, 'a b'], ['text']])
    expect(found('null')).toEqual([['list', 2, 'a b']])
    expect(found('1')).toEqual([['list', 0]])
    expect(found('nothing of it')).toEqual([])
  })

  it('pauses while it walks through much', () => {
    const walk = foundIn(
      Array.from({ length: 20_000 }, () => 'x'),
      'y',
    )
    expect([...walk].length).toBeGreaterThan(10)
  })

  it('writes paths as programs do', () => {
    expect(pathText([])).toBe('(whole)')
    expect(pathText(['rows', 3, 'a b', 'name'])).toBe('rows[3]["a b"].name')
    expect(pathText([0, 'x'])).toBe('[0].x')
  })
})
