import { describe, expect, test } from 'vitest'
import { KEY_LENGTH_MAX, keyByModel, keyByRequest, placeFor, runsPerKeyProblems } from './runs-per-key.ts'

const model = (runsPerKey: Parameters<typeof keyByModel>[0]['runsPerKey']) => ({ name: 'report', runsPerKey })

describe('which key a run has', () => {
  test('the value at the pointer names it, together with the model', () => {
    const run = { owner: 'ann', parameters: { customer: { id: 7 } } }
    expect(keyByModel(model({ key: '/customer/id' }), run)).toEqual({
      owner: 'ann',
      key: 'report/customer/id=7',
      limit: 1,
      mode: 'queue',
    })
  })

  test('a text without a slash is the key, and all owners may share it', () => {
    const run = { owner: 'ann', parameters: {} }
    expect(keyByModel(model({ key: 'press', limit: 2, mode: 'refuse', scope: 'everyone' }), run)).toEqual({
      owner: '',
      key: 'press',
      limit: 2,
      mode: 'refuse',
    })
  })

  test.each([{}, { customer: null }, { customer: '' }, { customer: {} }])('%j leads to none', (parameters) => {
    expect(keyByModel(model({ key: '/customer/id' }), { owner: 'ann', parameters })).toBeNull()
  })

  test('equal values have equal keys, whatever the order of their names', () => {
    const keyOf = (at: object) => keyByModel(model({ key: '/at' }), { owner: 'ann', parameters: { at } })!.key
    expect(keyOf({ a: 1, b: 2 })).toBe(keyOf({ b: 2, a: 1 }))
  })

  test('pointers reach names with slashes and tildes, and items of lists', () => {
    const run = { owner: 'ann', parameters: { 'a/b~c': ['x', 'y'] } }
    expect(keyByModel(model({ key: '/a~1b~0c/1' }), run)!.key).toBe('report/a~1b~0c/1=y')
  })

  test('long values and values that are to be hidden are told by a hash', () => {
    const keyOf = (parameters: object, key: string) => keyByModel(model({ key }), { owner: 'ann', parameters })!.key
    const long = keyOf({ text: 'x'.repeat(10_000) }, '/text')
    expect(long).toMatch(/^report\/text#[0-9a-f]{64}$/)
    expect(long.length).toBeLessThanOrEqual(KEY_LENGTH_MAX)
    expect(keyOf({ api_token: 'hush' }, '/api_token')).toMatch(/^report\/api_token#[0-9a-f]{64}$/)
    expect(keyOf({ text: 'a\u0000b' }, '/text')).toMatch(/#[0-9a-f]{64}$/)
  })

  test('a request names it for its own owner', () => {
    expect(keyByRequest({ key: 'k', limit: null }, { owner: 'ann', parameters: {} })).toEqual({
      owner: 'ann',
      key: 'k',
      limit: 1,
      mode: 'queue',
      isAsked: true,
    })
  })
})

describe('whether there is a place', () => {
  test.each([
    ['queue', 1, 1, 0, 'wait'],
    ['queue', 2, 1, 0, 'take'],
    // A place that is free and not given away yet belongs to who is in line.
    ['queue', 2, 1, 1, 'wait'],
    ['queue', 5, 1, 1, 'wait'],
    ['cancel_older', 1, 1, 0, 'wait'],
    ['cancel_older', 1, 0, 0, 'take'],
    ['refuse', 1, 1, 0, 'refuse'],
    ['refuse', 2, 1, 1, 'refuse'],
    ['refuse', 3, 1, 1, 'take'],
  ] as const)('%s with limit %i, %i active and %i in line: %s', (mode, limit, active, waiting, place) => {
    expect(placeFor({ mode, limit }, { active, waiting })).toBe(place)
  })
})

describe('what a model may say', () => {
  test('everything that is good', () => {
    expect(runsPerKeyProblems(undefined)).toEqual([])
    expect(runsPerKeyProblems({ key: '/a', limit: 1_000, mode: 'cancel_older', scope: 'everyone' })).toEqual([])
  })

  test.each([
    [{ key: '' }, 'key'],
    [{ key: 'x'.repeat(256) }, 'key'],
    [{ key: '/a~2' }, 'key'],
    [{ key: 'a\u0000' }, 'key'],
    [{ key: 'a', limit: 0 }, 'limit'],
    [{ key: 'a', limit: 1.5 }, 'limit'],
    [{ key: 'a', limit: 1_001 }, 'limit'],
    [{ key: 'a', mode: 'wait' }, 'mode'],
    [{ key: 'a', scope: 'all' }, 'scope'],
    [{ key: 'a', size: 1 }, null],
    [['a'], null],
    ['a', null],
  ])('%j is refused at %s', (given, name) => {
    expect(runsPerKeyProblems(given).map((problem) => problem.name)).toEqual([name])
  })
})
