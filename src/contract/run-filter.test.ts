import { describe, expect, it, test } from 'vitest'
import { RunFilterJson, RunFilterQuery } from './run-filter.ts'

const BATCH = '0190a0b0-0000-7000-8000-000000000001'

test.each([
  ['status=FAILED,CANCELLED', { status: ['FAILED', 'CANCELLED'] }],
  ['status=FAILED&status=CANCELLED', { status: ['FAILED', 'CANCELLED'] }],
  ['not_status=SUCCEEDED', { not_status: ['SUCCEEDED'] }],
  ['tag=a\\,b,c', { tag: ['a,b', 'c'] }],
  ['model=forecast&not_model_version=1', { model: ['forecast'], not_model_version: ['1'] }],
  [`batch_id=${BATCH}`, { batch_id: [BATCH] }],
  ['text=a,b', { text: 'a,b' }],
])('the query ?%s asks the same as JSON', (text, filter) => {
  const query: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(text))
    query[name] = name in query ? [query[name]!, value].flat() : value
  expect(RunFilterQuery.parse(query)).toEqual(filter)
  expect(RunFilterJson.parse(filter)).toEqual(filter)
})

it('takes a single value for a list, and null for nothing, in JSON', () => {
  expect(RunFilterJson.parse({ status: 'FAILED', model: null, text: null })).toEqual({
    status: ['FAILED'],
    model: null,
    text: null,
  })
})

describe('a time', () => {
  test.each([
    ['2030-01-31T08:00:00Z', '2030-01-31T08:00:00.000000Z'],
    ['2030-01-31T08:00:00.5+02:00', '2030-01-31T06:00:00.500000Z'],
    ['2030-01-31T08:00:00.1234567Z', '2030-01-31T08:00:00.123456Z'],
    ['2030-01-31T08:00:00+23:59', '2030-01-30T08:01:00.000000Z'],
  ])('%s is %s', (given, meant) => {
    expect(RunFilterQuery.parse({ created_after: given })).toEqual({ created_after: meant })
  })

  test.each([
    '2030-01-31',
    '2030-01-31T08:00:00',
    '2030-02-31T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-01:00',
    '',
  ])('%s is refused', (given) => {
    expect(RunFilterQuery.safeParse({ created_before: given }).success).toBe(false)
  })
})

test.each([
  { status: 'FAILED,' },
  { status: 'failed' },
  { status: [] },
  { model: '' },
  { model: 'a\u0000' },
  { text: '\ud800' },
  { batch_id: 'x' },
  { owner: 'o'.repeat(256) },
  { tag: Array.from({ length: 21 }, (_, no) => `tag-${no}`) },
  { not_created_after: '2030-01-31T08:00:00Z' },
])('%j is refused in both forms', (filter) => {
  expect(RunFilterQuery.safeParse(filter).success).toBe(false)
  expect(RunFilterJson.safeParse(filter).success).toBe(false)
})
