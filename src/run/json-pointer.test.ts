import { expect, test } from 'vitest'
import { jsonPointer } from './json-pointer.ts'

test('a pointer escapes ~ and / as RFC 6901 asks, and no steps is the empty pointer', () => {
  expect(jsonPointer([])).toBe('')
  expect(jsonPointer(['a/b', 0, 'm~n', '', '~1'])).toBe('/a~1b/0/m~0n//~01')
})
