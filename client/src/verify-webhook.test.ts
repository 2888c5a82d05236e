import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { verifyWebhook, WebhookNotVerified } from './verify-webhook.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const secret = newSecret()
const BODY = '{"type":"run.succeeded","timestamp":"2026-01-02T03:04:05.678Z","data":{"title":"Ünïcödé 🙂"}}'

/** As the public library signs it. */
function signed({ body = BODY, id = 'abc_7', at = new Date(), by = secret } = {}): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': new Webhook(by).sign(id, at, body),
  }
}

test('what the public library signed verifies', async () => {
  expect(await verifyWebhook(BODY, signed(), secret)).toEqual({ id: 'abc_7', ...JSON.parse(BODY) })
})

test('bytes, Headers and names in capitals do as well', async () => {
  const bytes = new TextEncoder().encode(BODY)
  expect(await verifyWebhook(bytes, new Headers(signed()), secret)).toMatchObject({ id: 'abc_7' })
  const capitals = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]))
  expect(await verifyWebhook(bytes, capitals, secret)).toMatchObject({ id: 'abc_7' })
})

test('one of several signatures, and one of several secrets, is enough', async () => {
  const headers = signed()
  const both = {
    ...headers,
    'webhook-signature': `v1a,xx v1,?? ${signed({ by: newSecret() })['webhook-signature']} ${headers['webhook-signature']}`,
  }
  expect(await verifyWebhook(BODY, both, [newSecret(), secret])).toMatchObject({ type: 'run.succeeded' })
})

describe('not verified is', () => {
  const minutes = (count: number) => new Date(Date.now() + count * 60_000)
  test.each<[string, string, Record<string, string>]>([
    ['another body', `${BODY} `, signed()],
    ['another id', BODY, { ...signed(), 'webhook-id': 'abc_8' }],
    ['another time', BODY, { ...signed(), 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) + 1) }],
    ['another secret', BODY, signed({ by: newSecret() })],
    ['another version', BODY, { ...signed(), 'webhook-signature': signed()['webhook-signature']!.replace('v1', 'v2') }],
    ['what is too old', BODY, signed({ at: minutes(-6) })],
    ['what is from the future', BODY, signed({ at: minutes(6) })],
    ['a time that is none', BODY, { ...signed(), 'webhook-timestamp': 'now' }],
    ['what has no headers', BODY, {}],
  ])('%s', async (_what, body, headers) => {
    await expect(verifyWebhook(body, headers, secret)).rejects.toThrow(WebhookNotVerified)
  })
})
