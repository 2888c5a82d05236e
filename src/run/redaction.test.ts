import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findMarker, hiddenTexts, hideTexts, isSensitiveName, REDACTED, redact, restoreRedacted } from './redaction.ts'

test.each([
  ...[
    'password',
    'Password',
    'PASSWORD',
    'db_password',
    'user-password',
    'passwordHash',
    'password2',
    'token',
    'accessTokenId',
  ],
  ...[
    'apiKey',
    'APIKey',
    'API_KEY',
    'api.key',
    'x-auth-token',
    'X-Auth',
    'authHeader',
    'clientSecret',
    'secret_',
    'key',
    'keyId',
    'S3Key',
  ],
])('R354: %s is a sensitive name', (name) => {
  expect(isSensitiveName(name)).toBe(true)
})

test.each([
  ...[
    'author',
    'authority',
    'keyboard',
    'monkey',
    'keys',
    'max_tokens',
    'tokenizer',
    'secretary',
    'oauth',
    'passwordless',
    'region',
  ],
  ...['', '_', 'turkeyCount', 'schlüsselkey', 'keyé', 'MONKEY'],
])('R354: %j is not', (name) => {
  expect(isSensitiveName(name)).toBe(false)
})

describe('redact', () => {
  test('hides values deep in objects and arrays and leaves the original alone', () => {
    const value = { a: 1, list: [{ apiKey: 'x', b: 2 }], auth: { user: 'u', pass: 'p' }, token: null }
    const before = structuredClone(value)
    expect(redact(value)).toEqual({ a: 1, list: [{ apiKey: REDACTED, b: 2 }], auth: REDACTED, token: REDACTED })
    expect(value).toEqual(before)
  })

  test('returns the very same value when nothing is hidden, and shares what did not change', () => {
    const value = { a: { b: [1, { c: 'x' }] }, d: 'y' }
    expect(redact(value)).toBe(value)
    expect(redact({ ...value, key: 1 }).a).toBe(value.a)
    expect(redact('token')).toBe('token')
    expect(redact(null)).toBeNull()
  })

  test('R355: the list of words can be replaced, also by words of several parts', () => {
    const options = { words: ['creditCard', 'PIN'] }
    expect(redact({ my_credit_card_no: 1, credit: 2, pin: 3, token: 4, pinned: 5 }, options)).toEqual({
      my_credit_card_no: REDACTED,
      credit: 2,
      pin: REDACTED,
      token: 4,
      pinned: 5,
    })
  })

  test('R355: a hook decides before the words, by path and value', () => {
    const seen: string[] = []
    const shown = redact(
      { key: { token: 1, open: 2 }, list: ['a', 'hide me'] },
      {
        hook: (path, value) => {
          seen.push(path.join('/'))
          if (path.join('/') === 'key') return false
          return value === 'hide me' ? true : undefined
        },
      },
    )
    expect(shown).toEqual({ key: { token: REDACTED, open: 2 }, list: ['a', REDACTED] })
    expect(seen).toEqual(['key', 'key/token', 'key/open', 'list', 'list/0', 'list/1'])
  })

  test('keeps an own key named __proto__ a key', () => {
    const shown = redact(JSON.parse('{"__proto__":{"x":1},"key":2}'))
    expect(JSON.stringify(shown)).toBe('{"__proto__":{"x":1},"key":"[redacted]"}')
  })
})

test('findMarker points to the first marker, or is null', () => {
  expect(findMarker({ a: 1, 'b/c': [0, { key: REDACTED }] })).toBe('/b~1c/1/key')
  expect(findMarker(REDACTED)).toBe('')
  expect(findMarker({ a: [`${REDACTED}!`], b: null, [REDACTED]: 1 })).toBeNull()
})

describe('restoreRedacted', () => {
  test('puts the values of the source back', () => {
    const source = { key: 's', auth: { user: 'u' }, list: [{ token: 1 }], other: 2 }
    expect(restoreRedacted({ ...redact(source), other: 3 }, source)).toEqual({ ...source, other: 3 })
  })

  test('leaves a marker without a counterpart, so that it can be refused', () => {
    expect(restoreRedacted({ key: REDACTED, in: { key: REDACTED }, toString: REDACTED }, { in: 1 })).toEqual({
      key: REDACTED,
      in: { key: REDACTED },
      toString: REDACTED,
    })
  })

  test('returns the very same value when it holds no marker', () => {
    const value = { a: [1] }
    expect(restoreRedacted(value, { a: [2] })).toBe(value)
  })
})

test('restoreRedacted leaves a marker where the source hides nothing', () => {
  const source = { open: 'o', auth: { user: 'u' }, card: 'c' }
  const markers = { open: REDACTED, auth: { user: REDACTED }, card: REDACTED }
  expect(restoreRedacted(markers, source)).toEqual(markers)
  expect(restoreRedacted(markers, source, { words: ['card'] })).toEqual({ ...markers, card: 'c' })
  expect(restoreRedacted({ auth: REDACTED }, source)).toEqual({ auth: source.auth })
})

describe('hideTexts', () => {
  const hidden = hiddenTexts({
    api_key: 'sesame',
    auth: { users: ['sesame-2', 'bob', 12345, true] },
    author: 'shown',
    n: 777_777,
  })

  test('knows what stands behind sensitive names, the longest first, and leaves out what is too short', () => {
    expect(hidden).toEqual(['sesame-2', 'sesame', '12345'])
  })

  test('takes it out of free text, and nothing else', () => {
    expect(hideTexts('401 for sesame-2, then sesame (bob, shown, 777777)', hidden)).toBe(
      `401 for ${REDACTED}, then ${REDACTED} (bob, shown, 777777)`,
    )
    expect(hideTexts('nothing here', [])).toBe('nothing here')
  })
})

const names = fc.oneof(fc.constantFrom('key', 'apiKey', 'author', 'list', 'a'), fc.string({ maxLength: 4 }))
const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, fc.constantFrom(1, 'x', null, true), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}))

test('property: restoring what was redacted gives the value back, and redacting twice changes nothing more', () => {
  fc.assert(
    fc.property(values, (value) => {
      const shown = redact(value)
      expect(restoreRedacted(shown, value)).toEqual(value)
      expect(redact(shown)).toEqual(shown)
    }),
  )
})
