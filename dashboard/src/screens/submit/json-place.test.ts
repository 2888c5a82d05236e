import fc from 'fast-check'
import { expect, test } from 'vitest'
import { placeOf } from './json-place.ts'
import { pointerOf } from './value-path.ts'

const TEXT = `{
  "region": "A\\"U",
  "limits": {"floor": 1, "list": [10, {"x": null}]},
  "a/b": true
}`

test.each([
  ['/region', '"A\\"U"', 2],
  ['/limits/floor', '1', 3],
  ['/limits/list/1/x', 'null', 3],
  ['/a~1b', 'true', 4],
  ['/limits/list', '[10, {"x": null}]', 3],
  ['/limits/absent', '{"floor": 1, "list": [10, {"x": null}]}', 3],
  ['', TEXT, 1],
  ['/absent', TEXT, 1],
])('%s', (pointer, text, line) => {
  const place = placeOf(TEXT, pointer)!
  expect([TEXT.slice(place.start, place.end), place.line]).toEqual([text, line])
})

test('a text that is not JSON has no places, and asking does no harm', () => {
  for (const text of ['', '{', '{"a": ', '[1,', '{"a" 1}', '"abc', '{"a":"\\']) {
    expect(() => placeOf(text, '/a/0')).not.toThrow()
  }
  expect(placeOf('{"a": {"b"', '/a/b')).toBeNull()
})

test('of any value, the place of each member is what it says', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      for (const name of Object.keys(value)) {
        const place = placeOf(text, pointerOf([name]))!
        expect(JSON.stringify(JSON.parse(text.slice(place.start, place.end)))).toBe(JSON.stringify(value[name]))
      }
    }),
  )
})
