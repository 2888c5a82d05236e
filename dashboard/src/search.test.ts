import { describe, expect, it } from 'vitest'
import { parseSearch, textIn, textsIn, writeSearch } from './search.ts'

describe('the state in an address', () => {
  it('survives being written and read, with names that come several times', () => {
    const search = { status: ['FAILED', 'CANCELLED'], text: 'a b&c=ü', tag: 'x,y' }
    expect(parseSearch(writeSearch(search))).toEqual(search)
  })

  it('leaves out what is not there', () => {
    expect(writeSearch({ status: undefined, text: '', model: [] })).toBe('')
  })

  it('gives one text or all of them', () => {
    const search = parseSearch('?a=1&a=2&b=3')
    expect([textIn(search, 'a'), textIn(search, 'b'), textIn(search, 'c')]).toEqual(['1', '3', undefined])
    expect([textsIn(search, 'a'), textsIn(search, 'b'), textsIn(search, 'c')]).toEqual([['1', '2'], ['3'], []])
  })
})
