import { expect, test } from 'vitest'
import { readUnsubscribeToken, unsubscribeToken } from './unsubscribe-token.ts'

const KEY = 'a key of the database'
const ID = '01990000-0000-7000-8000-000000000001'

test.each(['failure', 'batch_finished', null] as const)('a token for %s is read as it was made', (kind) => {
  expect(readUnsubscribeToken(KEY, unsubscribeToken(KEY, { receiverId: ID, kind }))).toEqual({ receiverId: ID, kind })
})

const token = unsubscribeToken(KEY, { receiverId: ID, kind: 'failure' })

test.each([
  ['of another key', unsubscribeToken('another', { receiverId: ID, kind: 'failure' })],
  ['for another address', token.replace(ID, ID.replace(/1$/, '2'))],
  ['for another kind', token.replace('failure', 'progress')],
  ['for everything', token.replace('failure', 'all')],
  ['with another signature', `${token.slice(0, -2)}AA`],
  ['with a signature that stands for the same bytes', token.slice(0, -1) + twin(token.at(-1)!)],
  ['that is cut off', token.slice(0, -5)],
  ['that is longer', `${token}A`],
  ['that is nothing', ''],
  ['that is very long', 'a'.repeat(100_000)],
])('a token %s is none', (_what, text) => {
  expect(readUnsubscribeToken(KEY, text)).toBeNull()
})

test('a kind that nobody knows any more is none, though it is signed', () => {
  const old = unsubscribeToken(KEY, { receiverId: ID, kind: 'weekly' as 'failure' })
  expect(readUnsubscribeToken(KEY, old)).toBeNull()
})

/** The last of 43 signs carries four bits; the two others do not matter to a decoder. */
function twin(sign: string): string {
  const signs = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return signs[signs.indexOf(sign) ^ 1]!
}
