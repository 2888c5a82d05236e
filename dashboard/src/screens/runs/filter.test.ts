import { describe, expect, it } from 'vitest'
import { parseSearch, writeSearch } from '../../search.ts'
import {
  type Condition,
  conditionsIn,
  conditionsOf,
  filterOf,
  onlyStatus,
  searchOf,
  toggled,
  withCondition,
  withoutCondition,
} from './filter.ts'
import { sentenceOf, wordsOf } from './filter-words.ts'
import { fromField, since, toField, withRange } from './time-range.ts'

const is = (name: Condition['name'], value: string): Condition => ({ name, isNot: false, value })
const not = (name: Condition['name'], value: string): Condition => ({ name, isNot: true, value })

describe('a filter in the address', () => {
  it('is read by the names of the service, repeated or with commas', () => {
    const search = parseSearch(
      '?status=FAILED,CANCELLED&not_model=a&not_model=b&tag=x%5C,y&text=a,b&overdue=false&order=created_at_asc&bulk=1',
    )
    const conditions = conditionsIn(search)
    expect(conditions).toEqual([
      is('status', 'FAILED'),
      is('status', 'CANCELLED'),
      not('model', 'a'),
      not('model', 'b'),
      is('tag', 'x,y'),
      is('text', 'a,b'),
      not('overdue', 'true'),
    ])
    expect(filterOf(conditions)).toEqual({
      status: ['FAILED', 'CANCELLED'],
      not_model: ['a', 'b'],
      tag: ['x,y'],
      text: 'a,b',
      overdue: false,
    })
  })

  it('survives being written and read', () => {
    const conditions = [
      is('status', 'FAILED'),
      not('tag', 'a,b'),
      is('waiting', 'approval'),
      is('text', 'x'),
      not('text', 'y'),
      is('created_after', '2026-01-01T00:00:00Z'),
      is('overdue', 'true'),
    ]
    expect(conditionsIn(parseSearch(writeSearch(searchOf(conditions))))).toEqual(conditions)
    expect(conditionsOf(filterOf(conditions) as never)).toEqual(conditions)
  })

  it('what the service does not know is left to it', () => {
    const conditions = conditionsIn(parseSearch('?status=NOPE&overdue=maybe&created_after=yesterday'))
    expect(filterOf(conditions)).toEqual({ status: ['NOPE'], overdue: 'maybe', created_after: 'yesterday' })
    expect(searchOf(conditions)).toEqual({ status: 'NOPE', overdue: 'maybe', created_after: 'yesterday' })
  })
})

describe('a chip', () => {
  const conditions = [is('status', 'FAILED'), is('model', 'a')]

  it('is added once; what has one value is replaced', () => {
    expect(withCondition(conditions, is('model', 'a'))).toEqual(conditions)
    expect(withCondition([is('text', 'a'), not('text', 'b')], is('text', 'c'))).toEqual([
      not('text', 'b'),
      is('text', 'c'),
    ])
    expect(withCondition([is('overdue', 'true')], not('overdue', 'true'))).toEqual([not('overdue', 'true')])
  })

  it('is removed, and turned to its contrary', () => {
    expect(withoutCondition(conditions, is('model', 'a'))).toEqual([is('status', 'FAILED')])
    expect(searchOf(toggled(conditions, is('model', 'a')))).toEqual({ status: 'FAILED', not_model: 'a' })
    expect(searchOf(toggled([is('overdue', 'true')], is('overdue', 'true')))).toEqual({ overdue: 'false' })
  })

  it('of a time turns to everything that it left out', () => {
    const stretch = [is('model', 'a'), is('created_after', 'x'), is('created_before', 'y')]
    expect(searchOf(toggled(stretch, is('created_after', 'x')))).toEqual({ model: 'a', created_before: 'x' })
    expect(searchOf(toggled(stretch, is('created_before', 'y')))).toEqual({ model: 'a', created_after: 'y' })
    expect(toggled(stretch, is('model', 'a'))).toEqual([not('model', 'a'), ...stretch.slice(1)])
  })

  it('says which tab is open', () => {
    expect(onlyStatus([is('model', 'a')])).toBeNull()
    expect(onlyStatus(conditions)).toBe('FAILED')
    expect(onlyStatus([...conditions, is('status', 'RUNNING')])).toBeUndefined()
    expect(onlyStatus([not('status', 'FAILED')])).toBeUndefined()
  })
})

describe('in words', () => {
  it.each([
    [is('status', 'FAILED'), 'Status is FAILED'],
    [not('tag', 'nightly'), 'Tag is not nightly'],
    [is('waiting', 'approval'), 'Waiting for approval'],
    [not('text', 'a'), 'Text does not begin with a'],
    [is('overdue', 'true'), 'Run is overdue'],
    [is('created_after', 'yesterday'), 'Created since yesterday'],
  ])('%j', (condition, words) => expect(wordsOf(condition, 'UTC')).toBe(words))

  it('a sentence joins values by or and names by and', () => {
    expect(sentenceOf([is('status', 'FAILED'), is('status', 'CANCELLED'), not('model', 'a'), not('model', 'b')])).toBe(
      'Status is FAILED or CANCELLED, and model is not a nor b',
    )
  })
})

describe('times', () => {
  it('a field shows the zone of the browser and says UTC to the service', () => {
    const iso = fromField('2026-05-04T14:30')!
    expect(toField(iso)).toBe('2026-05-04T14:30')
    expect(iso).toBe(new Date(2026, 4, 4, 14, 30).toISOString().replace('.000', ''))
    expect([fromField(''), fromField('2026-05-'), toField('nonsense'), toField(undefined)]).toEqual([
      null,
      null,
      '',
      '',
    ])
  })

  it('a stretch replaces the one before', () => {
    expect(since(1, Date.UTC(2026, 0, 1, 12))).toBe('2026-01-01T11:00:00Z')
    const before = [is('model', 'a'), is('created_after', 'x'), is('created_before', 'y')]
    expect(withRange(before, 'z', null)).toEqual([is('model', 'a'), is('created_after', 'z')])
  })
})
