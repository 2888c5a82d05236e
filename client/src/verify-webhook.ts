/**
 * Whether a webhook was sent by the service and not by somebody else, after Standard Webhooks 1.0.0. Give it the body as it
 * came: text that was parsed and written anew has other bytes and another signature.
 */

/** What a webhook tells. `data` is by type; docs/guides/webhooks.md lists it. */
export type WebhookMessage = {
  /** The same in every repeat: a receiver that has seen it drops the message. */
  id: string
  type: string
  timestamp: string
  data: Record<string, unknown>
}

export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>

/** The message is not to be trusted; answer 400. */
export class WebhookNotVerified extends Error {
  override readonly name: string = 'WebhookNotVerified'
}

const PREFIX = 'whsec_'
/** How far the sender's clock may be from ours. An older message may have been recorded and sent again. */
const TOLERANCE_SECONDS = 300

/** The message, or a WebhookNotVerified. With several secrets any of them may have signed it. */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): Promise<WebhookMessage> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => header(headers, `webhook-${name}`))
  if (!id || !timestamp || !signatures) throw new WebhookNotVerified('The headers of a webhook are missing.')
  const offSeconds = /^\d{1,12}$/.test(timestamp) ? Math.abs(Date.now() / 1_000 - Number(timestamp)) : Number.NaN
  if (!(offSeconds <= TOLERANCE_SECONDS)) throw new WebhookNotVerified('The time of the webhook is too far from now.')
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  const given = signatures.split(' ').flatMap((one) => (one.startsWith('v1,') ? (decoded(one.slice(3)) ?? []) : []))
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const key = await keyOf(secret)
    // The platform compares in constant time.
    for (const signature of given)
      if (await crypto.subtle.verify('HMAC', key, signature, signed))
        return { id, ...JSON.parse(new TextDecoder().decode(bytes)) }
  }
  throw new WebhookNotVerified('No signature of the webhook fits.')
}

async function keyOf(secret: string) {
  const key = decoded(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret)
  if (!key || key.length === 0) throw new TypeError('The secret of a webhook is whsec_ and base64.')
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function decoded(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))
  } catch {
    return null
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

function header(headers: WebhookHeaders, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name)
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === 'string' ? found : null
}
