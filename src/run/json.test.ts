/**
 * The strict reader: it refuses what it promises to refuse, with the place, and reads the rest as `JSON.parse` does.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonRefused, parseStrictJson } from './json.ts'

const bytesOf = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

function refusalOf(input: string | Uint8Array): JsonRefused {
  try {
    parseStrictJson(input)
  } catch (error) {
    if (error instanceof JsonRefused) return error
    throw error
  }
  throw new Error('was accepted')
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('refuses beyond JSON.parse, with the pointer to the place', () => {
  test.each([
    ['a duplicate key', '{"a":1,"b":{"c":1,"c":2}}', '/b/c', 'twice'],
    ['a duplicate written with an escape', '{"a":1,"\\u0061":2}', '/a', 'twice'],
    ['a duplicate whose first value is null', '{"a":null,"a":1}', '/a', 'twice'],
    ['a duplicate that looks like an integer', '{"1":0,"1":0}', '/1', 'twice'],
    ['a duplicate of an inherited name', '{"toString":1,"toString":2}', '/toString', 'twice'],
    ['the key __proto__', '{"a":{"__proto__":1}}', '/a/__proto__', 'rename'],
    ['the key __proto__ written with escapes', '{"\\u005f_proto__":1}', '/__proto__', 'rename'],
    ['the key constructor', '[{"constructor":1}]', '/0/constructor', 'rename'],
    ['the key prototype', '{"prototype":1}', '/prototype', 'rename'],
    ['a number that overflows', '{"x":[1,1e400]}', '/x/1', 'send it as a string'],
    ['a number that overflows, with E', '-1E400', '', 'send it as a string'],
    ['a number that underflows', '1e-400', '', 'send it as a string'],
    ['an integer that changes', '{"id":9007199254740993}', '/id', '9007199254740992'],
    ['a decimal with more digits than a double carries', '[0.1000000000000000055511151231257827]', '/0', '0.1'],
    ['an escaped NUL in a string', '["a\\u0000b"]', '/0', 'NUL'],
    ['an escaped NUL in a key', '{"x":{"a\\u0000":1}}', '/x', 'NUL'],
    ['a raw NUL', '["a\u0000b"]', '/0', 'NUL'],
    ['an escaped high surrogate alone', '["\\ud83d"]', '/0', 'surrogate'],
    ['an escaped low surrogate alone', '["\\ude00"]', '/0', 'surrogate'],
    ['surrogates in the wrong order', '["\\ude00\\ud83d"]', '/0', 'surrogate'],
    ['a raw surrogate alone', '["\ud83d"]', '/0', 'surrogate'],
    ['a surrogate alone in a key', '{"x":{"\\ud83d":1}}', '/x', 'surrogate'],
    ['a raw surrogate alone in a key', '{"x":{"\ud83d":1}}', '/x', 'surrogate'],
    ['a byte order mark', '\ufeff{}', '', 'byte order mark'],
    ['depth 65', nested(65), '/0'.repeat(64), 'deeper than 64'],
    ['text after the value', '{} {}', '', 'one value'],
    ['an empty text', ' \n', '', 'empty'],
  ])('%s', (_what, text, pointer, words) => {
    const refusal = refusalOf(text)
    expect(refusal.pointer).toBe(pointer)
    expect(refusal.reason).toContain(words)
    expect(refusalOf(text).offset).toBeLessThanOrEqual(text.length)
  })

  test('escapes ~ and / in the pointer', () => {
    expect(refusalOf('{"a/b":{"c~d":1e999}}').pointer).toBe('/a~1b/c~0d')
  })

  test('names the offset of the place', () => {
    expect(refusalOf('{"a": 1e400}').offset).toBe(6)
    expect(refusalOf('{"a":1,"a":2}').offset).toBe(7)
  })

  test('does not quote a long text back', () => {
    expect(refusalOf('1'.repeat(100_000)).reason.length).toBeLessThan(200)
  })
})

describe('reads bytes as UTF-8', () => {
  test('accepts characters of every length', () => {
    expect(parseStrictJson(bytesOf('{"é€😂":"Ω"}'))).toEqual({ 'é€😂': 'Ω' })
  })

  test.each([
    ['a stray continuation byte', bytesOf('{"a":["', [0x80], '"]}'), '/a/0'],
    ['a cut character', bytesOf('{"a":"x', [0xe2, 0x82], '"}'), '/a'],
    ['an encoded surrogate', bytesOf('{"a":"', [0xed, 0xa0, 0xbd], '"}'), '/a'],
    ['an overlong form', bytesOf('["', [0xc0, 0xaf], '"]'), '/0'],
    ['a bad byte after the value', bytesOf('{}', [0xff]), ''],
    ['a cut character at the very end', bytesOf('["', [0xf0, 0x9f]), '/0'],
  ])('refuses %s', (_what, bytes, pointer) => {
    const refusal = refusalOf(bytes)
    expect(refusal.reason).toContain('UTF-8')
    expect(refusal.pointer).toBe(pointer)
  })

  test('tells what comes first: a duplicate key before a bad byte', () => {
    expect(refusalOf(bytesOf('{"a":1,"a":"', [0xff], '"}')).reason).toContain('twice')
  })

  test('refuses a byte order mark', () => {
    expect(refusalOf(bytesOf([0xef, 0xbb, 0xbf], '{}')).reason).toContain('byte order mark')
  })
})

test.each([
  ...[
    '{',
    '[',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{a:1}',
    "{'a':1}",
    '{"a":1 "b":2}',
    '{"a" 1}',
  ],
  ...['"', '"\\', '"\\u12', '"\\x"', '"\\u12G4"', '"\n"', '"\t"', 'tru', 'nul', 'True', 'NaN', 'Infinity', '-Infinity'],
  ...[
    '-',
    '+1',
    '01',
    '-01',
    '00',
    '.5',
    '1.',
    '-.5',
    '1e',
    '1e+',
    '1E-',
    '1.e5',
    '0x10',
    '1_000',
    '1a',
    '[1}',
    '{"a":1]',
    ']',
    '}',
  ],
  ...['//x\n1', '/**/1', '\u00a01', '1\u2028', '[\u000b1]', '#', '"a"b', '[1]]'],
])('refuses %j as JSON.parse does', (text) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError)
  expect(() => parseStrictJson(text)).toThrow(JsonRefused)
})

test.each([
  ...[
    '0',
    '-0',
    '1.0',
    '1e0',
    '0.1',
    '-1.5',
    '100',
    '0.10',
    '1e21',
    '1E+2',
    '1e-7',
    '9007199254740991',
    '9007199254740992',
  ],
  ...[
    '9007199254740994',
    '1e23',
    '5e-324',
    '1.7976931348623157e308',
    '0.8444218515250481',
    '0e999',
    '0.000e-999',
    '123456789012345',
  ],
  ...[
    '1180591620717411303424',
    '0.1000000000000000055511151231257827021181583404541015625',
    '0.5000000000000000000000',
  ],
  ...['-0.0', '0.30000000000000004', '12345678.9012345', '1.50', '100000000000000000000000', '2.2250738585072014e-308'],
  ...[
    ' [ ] ',
    ' { } ',
    '\t\r\n null',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude02"',
    '{"":{"":[{}]}}',
    '"\u007f\u2028"',
  ],
  ...['{"toString":1,"hasOwnProperty":{"valueOf":2}}', '{"10":1,"9":2,"a":3}', nested(64)],
])('reads %s as JSON.parse does', (text) => {
  expect(parseStrictJson(text)).toEqual(JSON.parse(text))
  expect(parseStrictJson(Buffer.from(text))).toEqual(JSON.parse(text))
})

test('results are plain objects and arrays', () => {
  const value = parseStrictJson('{"a":[{}]}') as { a: object[] }
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect(Object.getPrototypeOf(value.a[0])).toBe(Object.prototype)
})

test('the depth limit can be set and counts containers', () => {
  expect(parseStrictJson('[1]', { depthMax: 1 })).toEqual([1])
  expect(() => parseStrictJson('[{}]', { depthMax: 1 })).toThrow(JsonRefused)
  expect(parseStrictJson('1', { depthMax: 0 })).toBe(1)
})

const outcome = (read: () => unknown) => {
  try {
    return { value: read() }
  } catch (error) {
    return { error }
  }
}

test('property: what both accept is equal, and nothing is accepted that JSON.parse refuses', () => {
  const piece = fc.constantFrom(
    '"',
    '\\',
    ',',
    ':',
    '{',
    '}',
    '[',
    ']',
    '0',
    '1',
    '-',
    '.',
    'e',
    '\\u00',
    ' ',
    'null',
    '\u0001',
    '😂',
  )
  fc.assert(
    fc.property(
      fc.json({ stringUnit: 'binary' }),
      fc.nat(),
      fc.nat(3),
      fc.option(piece),
      (json, where, cut, insert) => {
        const at = where % (json.length + 1)
        const text = insert === null ? json : json.slice(0, at) + insert + json.slice(at + cut)
        const strict = outcome(() => parseStrictJson(text))
        const lax = outcome(() => JSON.parse(text))
        if ('error' in strict) expect(strict.error).toBeInstanceOf(JsonRefused)
        else expect(strict).toEqual(lax)
      },
    ),
    { numRuns: 2_000 },
  )
})

test('property: every value without the forbidden is accepted', () => {
  const key = fc
    .string({ unit: 'grapheme' })
    .filter((name) => !['__proto__', 'constructor', 'prototype'].includes(name))
  const { value: values } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 5 }, fc.constantFrom(null, true, false), number, text, tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 4 }),
    object: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  }))
  fc.assert(
    fc.property(values, fc.constantFrom(undefined, 2), (value, indent) => {
      const json = JSON.stringify(value, null, indent)
      expect(parseStrictJson(Buffer.from(json))).toEqual(JSON.parse(json))
    }),
  )
})

const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger())
const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'))
