/** The canonical writer against the public vectors of RFC 8785, and its refusals. */

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalize, canonicalText, NotJson } from './canonical.ts'
import { parseStrictJson } from './json.ts'

test('R371: canonicalize({b:1,a:2}) equals canonicalize({a:2,b:1})', () => {
  expect(canonicalize({ b: 1, a: 2 })).toEqual(canonicalize({ a: 2, b: 1 }))
})

test('R370: canonicalization gives a stable hash whatever the key order, at every depth', () => {
  const shuffled = fc
    .dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true })
    .chain((object) =>
      fc.tuple(
        fc.constant(object),
        fc.shuffledSubarray(Object.keys(object), { minLength: Object.keys(object).length }),
      ),
    )
  fc.assert(
    fc.property(shuffled, ([object, keys]) => {
      const other = Object.fromEntries(keys.map((key) => [key, object[key]]))
      expect(canonicalize({ in: [other] }).hash).toBe(canonicalize({ in: [object] }).hash)
    }),
  )
})

test('R152: canonicalize returns the compact text and its SHA-256', () => {
  const { text, hash } = canonicalize({ name: 'é', list: [1, 2] })
  expect(text).toBe('{"list":[1,2],"name":"é"}')
  expect(hash).toBe(createHash('sha256').update(text, 'utf8').digest('hex'))
})

describe('RFC 8785 vectors', () => {
  test.each([
    ['arrays', '[56, {"d": true, "10": null, "1": [ ]}]', '[56,{"1":[],"10":null,"d":true}]'],
    [
      'french',
      '{"peach": "This sorting order", "péché": "is wrong according to French", ' +
        '"pêche": "but canonicalization MUST", "sin": "ingnore locale"}',
      '{"peach":"This sorting order","péché":"is wrong according to French",' +
        '"pêche":"but canonicalization MUST","sin":"ingnore locale"}',
    ],
    [
      'structures',
      '{"1":{"f":{"f":"hi","F":5},"\\n":56.0},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}',
      '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}',
    ],
    ['unicode', '{"Unnormalized Unicode":"A\\u030a"}', '{"Unnormalized Unicode":"A\u030a"}'],
    ['unicode, first edition', '{"Unnormalized Unicode":"\\u1e0d\\u0307"}', '{"Unnormalized Unicode":"\u1e0d\u0307"}'],
    [
      'values',
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
        '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    ],
    [
      'weird',
      '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\u000a":"Newline","1":"One","\\u0080":"Control\\u007f",' +
        '"\\ud83d\\ude02":"Smiley","\\u00f6":"Latin Small Letter O With Diaeresis",' +
        '"\\ufb33":"Hebrew Letter Dalet With Dagesh","</script>":"Browser Challenge"}',
      '{"\\n":"Newline","\\r":"Carriage Return","1":"One","</script>":"Browser Challenge","\u0080":"Control\u007f",' +
        '"ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😂":"Smiley",' +
        '"\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ],
  ])('%s', (_name, input, output) => {
    expect(canonicalText(JSON.parse(input))).toBe(output)
  })

  test.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('the double %s is written %s', (hex, text) => {
    expect(canonicalText(Buffer.from(hex, 'hex').readDoubleBE())).toBe(text)
  })

  test.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])('the double %s is refused', (hex) => {
    expect(() => canonicalText(Buffer.from(hex, 'hex').readDoubleBE())).toThrow(NotJson)
  })
})

describe('like JSON.stringify', () => {
  test.each([
    ['undefined properties are left out', { a: undefined, b: 1, c: undefined }, '{"b":1}'],
    ['an object of undefined properties is empty', { a: undefined }, '{}'],
    ['undefined in an array is null', [undefined, 1], '[null,1]'],
    ['a hole in an array is null', new Array(1), '[null]'],
    ['undefined at the top is null', undefined, 'null'],
    ['toJSON is called', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['toJSON gets the key', { k: { toJSON: (key: string) => ({ key }) } }, '{"k":{"key":"k"}}'],
    ['toJSON may leave a property out', { k: { toJSON: () => undefined } }, '{}'],
    ['an object without prototype is plain', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['an own key named __proto__ is a key', JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
  ])('%s', (_what, value, text) => {
    expect(canonicalText(value)).toBe(text)
  })
})

class Point {
  x = 1
}
const cyclic: Record<string, unknown> = { a: {} }
;(cyclic.a as Record<string, unknown>).back = cyclic
const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)])

test.each([
  ['NaN', { x: [Number.NaN] }, '/x/0', 'NaN'],
  ['Infinity', -Infinity, '', 'Infinity'],
  ['a bigint', { x: 1n }, '/x', 'bigint'],
  ['a function', { x: () => 1 }, '/x', 'function'],
  ['a symbol', [Symbol('x')], '/0', 'symbol'],
  ['a Map', { m: new Map() }, '/m', 'Map'],
  ['a Set', [new Set()], '/0', 'Set'],
  ['a typed array', { b: new Uint8Array(1) }, '/b', 'Uint8Array'],
  ['an instance of a class', { p: new Point() }, '/p', 'Point'],
  ['a cycle', cyclic, '/a/back', 'contains itself'],
  ['half a surrogate pair', { s: 'a\ud83d' }, '/s', 'surrogate'],
  ['half a surrogate pair in a long text', { s: '\ud83d'.padStart(100) }, '/s', 'surrogate'],
  ['half a surrogate pair in a key', { o: { '\ude00': 1 } }, '/o', 'surrogate'],
  ['NUL in a text', { s: 'a\0' }, '/s', 'NUL'],
  ['NUL in a key', [{ '\0': 1 }], '/0', 'NUL'],
  ['depth 65', deep(65), '/0'.repeat(64), 'deeper than 64'],
])('refuses %s with the place', (_what, value, pointer, words) => {
  expect(() => canonicalText(value)).toThrow(NotJson)
  try {
    canonicalText(value)
  } catch (error) {
    expect((error as NotJson).pointer).toBe(pointer)
    expect((error as NotJson).reason).toContain(words)
  }
})

test('depth 64 is written', () => {
  expect(canonicalText(deep(64))).toBe(`${'['.repeat(64)}1${']'.repeat(64)}`)
})

test('a value used twice is no cycle', () => {
  const shared = { a: 1 }
  expect(canonicalText([shared, shared])).toBe('[{"a":1},{"a":1}]')
})

const forbidden = /"(__proto__|constructor|prototype)":/

test('property: the text reads back as the same value, and writing that gives the same text', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 4 }), (value) => {
      const text = canonicalText(value)
      fc.pre(!forbidden.test(text))
      const again = parseStrictJson(text)
      expect(again).toEqual(JSON.parse(JSON.stringify(value)))
      expect(canonicalText(again)).toBe(text)
    }),
  )
})

test('property: strings and numbers are written as the engine writes them', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 100 }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      (string, number) => {
        fc.pre(!string.includes('\0'))
        expect(canonicalText([string, number])).toBe(JSON.stringify([string, number]))
      },
    ),
  )
})

test('property: keys are in the order of their UTF-16 code units', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: 'grapheme' })), (keys) => {
      const sorted = keys
        .filter((key) => !key.includes('\0'))
        .sort((a, b) => Buffer.from(a, 'utf16le').swap16().compare(Buffer.from(b, 'utf16le').swap16()))
      const text = canonicalText(Object.fromEntries(sorted.toReversed().map((key) => [key, 0])))
      expect(text).toBe(`{${sorted.map((key) => `${JSON.stringify(key)}:0`).join(',')}}`)
    }),
  )
})
