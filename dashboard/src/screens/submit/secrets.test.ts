import { expect, test } from 'vitest'
import {
  HIDDEN,
  hasHidden,
  hasMarker,
  hasSecrets,
  hideSecrets,
  isSensitiveName,
  REDACTED,
  showSecrets,
} from './secrets.ts'

test.each(['password', 'api_key', 'apiKey', 'API_KEY', 'x-auth-token', 'clientSecret', 'db.password'])('%s', (name) => {
  expect(isSensitiveName(name)).toBe(true)
})

test.each(['author', 'keyboard', 'max_tokens', 'monkey', 'name', ''])('%s is not sensitive', (name) => {
  expect(isSensitiveName(name)).toBe(false)
})

test('secrets are hidden wherever they are and come back where they were', () => {
  const value = { name: 'x', login: { password: 'p', user: 'u' }, hooks: [{ token: 't' }], pin_key: 42, secret: '' }
  const hidden = hideSecrets(value)
  expect(hidden).toEqual({
    name: 'x',
    login: { password: `${HIDDEN} 1`, user: 'u' },
    hooks: [{ token: `${HIDDEN} 2` }],
    pin_key: `${HIDDEN} 3`,
    secret: '',
  })
  expect(showSecrets(hidden, value)).toEqual(value)
  expect([hasSecrets(value), hasSecrets({ name: 'x' })]).toEqual([true, false])
})

test('a hidden value that was moved is still the same, and one that never was is told', () => {
  const hooks = [{ token: 'a' }, { token: 'b' }]
  const [, second] = hideSecrets(hooks) as unknown[]
  expect(showSecrets([second], hooks)).toEqual([{ token: 'b' }])
  const unknown = showSecrets([{ token: `${HIDDEN} 9` }], hooks)
  expect([hasHidden(unknown), hasHidden(hooks)]).toEqual([true, false])
})

test('markers of the service are found and stay', () => {
  expect(hasMarker({ a: [{ token: REDACTED }] })).toBe(true)
  expect(hasMarker({ a: 'redacted' })).toBe(false)
  expect(hideSecrets({ token: REDACTED })).toEqual({ token: REDACTED })
})
