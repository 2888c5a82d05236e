/**
 * Sends a fact to a webhook, as Standard Webhooks 1.0.0 says: `webhook-id` is the same in every repeat, the time and the
 * signature are those of this sending. Any 2xx is success, 410 is goodbye, everything else, redirects too, is a failure.
 */

import { createAddressGuard } from '../run/address-guard.ts'
import type { ClaimedDelivery } from '../store/ports/deliveries.ts'
import { parseRetryAfter } from './backoff.ts'
import { AddressRefused, type Answer, createGuardedPost, type LookUp } from './guarded-post.ts'
import type { Handed, Sender } from './sender.ts'
import { webhookBody } from './webhook-body.ts'
import { signatureHeader } from './webhook-signature.ts'

export type WebhookSenderOptions = {
  /** Names, addresses and ranges that may be reached although they are private, and without https. */
  allow: readonly string[]
  /** For links in what is sent. */
  publicUrl: string | null
  /** From the beginning to the end of the answer. */
  timeoutMs?: number
  lookUp?: LookUp
  /** Certificates to trust instead of the usual ones. */
  ca?: string | Buffer
}

const TIMEOUT_MS = 15_000
const SHOWN_HEADERS = ['content-type', 'location', 'retry-after'] as const

export function createWebhookSender(options: WebhookSenderOptions): Sender {
  const { allow, publicUrl, timeoutMs = TIMEOUT_MS, ...more } = options
  const guarded = createGuardedPost({ guard: createAddressGuard(allow), ...more })

  async function send(delivery: ClaimedDelivery, stop: AbortSignal): Promise<Handed> {
    if (delivery.to.channel !== 'webhook') throw new Error(`a ${delivery.to.channel} is no webhook`)
    const { url: address, secret, oldSecret } = delivery.to
    const url = URL.parse(address)
    if (!url) return refused('the URL of the webhook is not valid', null)
    const body = webhookBody(delivery.data, publicUrl)
    const message = { id: delivery.messageId, timestamp: Math.floor(Date.now() / 1_000), body }
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Holdfast-Webhooks/1',
      'webhook-id': message.id,
      'webhook-timestamp': String(message.timestamp),
      ...traceOf(delivery.data),
    }
    const signed = { 'webhook-signature': signatureHeader(message, oldSecret ? [secret, oldSecret] : [secret]) }
    // Without what may be secret: the query of the URL, and the signature, with which the message could be sent again.
    const request = { method: 'POST', url: `${url.origin}${url.pathname}`, headers, body: body.toString() }
    const late = AbortSignal.timeout(timeoutMs)
    try {
      const signal = AbortSignal.any([stop, late])
      return judged(await guarded.post({ url, headers: { ...headers, ...signed }, body, signal }), request)
    } catch (error) {
      if (error instanceof AddressRefused) return refused(error.message, request)
      const said = late.aborted && !stop.aborted ? `no answer within ${timeoutMs / 1_000} s` : inWords(error)
      return { outcome: 'failed', request, response: null, error: said }
    }
  }

  return { channel: 'webhook', send, close: async () => guarded.close() }
}

function judged({ status, headers, body, isCut }: Answer, request: unknown): Handed {
  const shown = Object.fromEntries(SHOWN_HEADERS.flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])))
  const response = { status, headers: shown, body, body_cut: isCut }
  if (status >= 200 && status < 300) return { outcome: 'delivered', request, response, error: null }
  if (status === 410) return { outcome: 'gone', request, response, error: 'answered 410: it wants nothing any more' }
  const error = status >= 300 && status < 400 ? `answered ${status}; redirects are not followed` : `answered ${status}`
  const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now())
  return { outcome: 'failed', request, response, error, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

function refused(why: string, request: unknown): Handed {
  return { outcome: 'refused', request, response: null, error: `Not sent: ${why}.` }
}

/** A connection that was tried at several addresses has several reasons. */
function inWords(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(inWords).join('; ')
  return error instanceof Error ? error.message || error.name : String(error)
}

/** The trace that the request of the run was part of, so that the receiver's work is part of it too. */
function traceOf(data: unknown): { traceparent?: string } {
  const parent = (data as { data?: { trace_parent?: unknown } } | null)?.data?.trace_parent
  return typeof parent === 'string' ? { traceparent: parent } : {}
}
