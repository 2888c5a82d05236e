import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { verifyWebhook } from '../../client/src/verify-webhook.ts'
import { signatureHeader } from './webhook-signature.ts'

const newSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString('base64')}`
const body = Buffer.from('{"type":"run.succeeded","data":{"title":"Ünïcödé 🙂"}}')

function headers(secrets: string[]): Record<string, string> {
  const message = { id: '0198_3', timestamp: Math.floor(Date.now() / 1_000), body }
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': signatureHeader(message, secrets),
  }
}

describe('a signature of ours', () => {
  test.each([24, 32, 64])('verifies with the public library, with a secret of %i bytes', (bytes) => {
    const secret = newSecret(bytes)
    expect(new Webhook(secret).verify(body, headers([secret]))).toEqual(JSON.parse(body.toString()))
  })

  test('verifies with either secret while they change, and with no other', () => {
    const [present, old] = [newSecret(), newSecret()]
    for (const secret of [present, old]) new Webhook(secret).verify(body, headers([present, old]))
    expect(() => new Webhook(newSecret()).verify(body, headers([present, old]))).toThrow('No matching signature')
  })

  test('verifies with our own client', async () => {
    const secret = newSecret()
    expect(await verifyWebhook(body, headers([secret]), secret)).toMatchObject({ id: '0198_3', type: 'run.succeeded' })
  })

  test('is the one of the public library, letter by letter', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const at = new Date(1_614_265_330_000)
    const text = '{"test": 2432232314}'
    const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: at.getTime() / 1_000, body: Buffer.from(text) }
    expect(signatureHeader(message, [secret])).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
    expect(new Webhook(secret).sign(message.id, at, text)).toBe(signatureHeader(message, [secret]))
  })
})

test('a webhook without a secret is an error, not an unsigned message', () => {
  expect(() => signatureHeader({ id: 'a', timestamp: 1, body }, ['whsec_'])).toThrow('no secret')
})
