import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { idempotencyKey, requestIdOf, traceParentOf } from './header.ts'

function withHeader(name: string, value: string): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  request.headers[name] = value
  request.rawHeaders.push(name, value)
  return request
}

const printable = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 255,
})

test('every printable key is read back from its quoted form', () => {
  fc.assert(
    fc.property(printable, (key) => {
      const quoted = `"${key.replace(/["\\]/g, '\\$&')}"`
      expect(idempotencyKey(withHeader('idempotency-key', quoted), null)).toBe(key)
    }),
  )
})

test('every printable key that does not begin with a quote is its bare form', () => {
  fc.assert(
    fc.property(printable, (key) => {
      fc.pre(!key.startsWith('"'))
      expect(idempotencyKey(withHeader('idempotency-key', key), key)).toBe(key)
    }),
  )
})

test('without header and body there is no key', () => {
  expect(idempotencyKey(new IncomingMessage(new Socket()), undefined)).toBeNull()
})

test.each([
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  '00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-00',
])('%s is a trace parent', (text) => {
  expect(traceParentOf(withHeader('traceparent', text))).toBe(text)
})

test.each([
  '',
  '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
  '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01',
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x',
  'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
])('%j is no trace parent', (text) => {
  expect(traceParentOf(withHeader('traceparent', text))).toBeNull()
})

test('a request id may go into headers, logs and addresses', () => {
  expect(requestIdOf(withHeader('x-request-id', 'A-1_b.2'))).toBe('A-1_b.2')
  expect(requestIdOf(withHeader('x-request-id', 'a\r\nb'))).toBeNull()
})
