import { expect, test } from 'vitest'
import { chooseEncoding, type Encoding } from './accept-encoding.ts'

const ALL: Encoding[] = ['br', 'gzip', 'identity']

test.each<[string | undefined, Encoding]>([
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP, Deflate, BR', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['br;q=0, gzip;q=0.1', 'gzip'],
  ['br; q=0', 'identity'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['gzip;q=0, *;q=0.5', 'br'],
  ['identity', 'identity'],
  ['identity;q=0', 'identity'],
  ['gzip;q=nonsense', 'identity'],
  ['zstd', 'identity'],
])('%s leads to %s', (header, wanted) => {
  expect(chooseEncoding(header, ALL)).toBe(wanted)
})

test('what we do not have is not chosen', () => {
  expect(chooseEncoding('br, gzip', ['identity'])).toBe('identity')
})
