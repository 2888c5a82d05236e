import fc from 'fast-check'
import { expect, test } from 'vitest'
import { attachmentHeaders } from './attachment.ts'

const SHA256 = 'ff'.repeat(32)
const offered = (name: string) => attachmentHeaders({ name, sha256: SHA256 })['Content-Disposition']

test.each([
  ['table.csv', 'table.csv'],
  ['plots/über all.png', '%C3%BCber%20all.png'],
  ["it's (1)*.txt", 'it%27s%20%281%29%2A.txt'],
  ['a"; filename="b.exe', 'a%22%3B%20filename%3D%22b.exe'],
  ['100%.csv', '100%25.csv'],
  ['a\r\nSet-Cookie: x', 'a__Set-Cookie%3A%20x'],
  ['photo\u202egpj.exe', 'photo_gpj.exe'],
  ['..\\..\\boot.ini', '.._.._boot.ini'],
  ['..', 'file'],
  ['a/', 'file'],
])('%j is offered as %s', (name, as) => {
  expect(offered(name)).toBe(`attachment; filename*=UTF-8''${as}`)
})

test('any name makes a valid header', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      expect(offered(name)).toMatch(/^attachment; filename\*=UTF-8''[A-Za-z0-9!~._%-]+$/)
    }),
  )
})

test('the digest is that of RFC 9530', () => {
  const { 'Repr-Digest': digest } = attachmentHeaders({ name: 'a', sha256: SHA256 })
  expect(digest).toBe(`sha-256=:${Buffer.alloc(32, 255).toString('base64')}:`)
})
