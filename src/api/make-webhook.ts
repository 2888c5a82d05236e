/** Makes webhooks, for the API and the command line: what may be registered, and the secret, which is told once. */

import { randomBytes } from 'node:crypto'
import { createAddressGuard } from '../run/address-guard.ts'
import { Refusal } from '../run/errors.ts'
import type { FactKind } from '../run/fact-kinds.ts'
import type { Receivers, Webhook } from '../store/ports/receivers.ts'
import { within } from './within.ts'

/** What decides where webhooks may go. */
export type WebhookRules = { allow: readonly string[]; lookUp?: (host: string) => Promise<{ address: string }[]> }

export type WantedWebhook = {
  id: string
  owner: string
  url: string
  events: FactKind[]
  description: string | null
  createdBy: string
}

/** Of one owner, so that one fact does not become any number of requests. Two at the same moment may pass it by one. */
const WEBHOOKS_MAX = 100
/** Sends under way at once to one webhook. */
const SLOTS = 8
/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32
const LOOK_UP_MS_MAX = 2_000

export function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
}

export async function storeNewWebhook(
  receivers: Receivers,
  { events, ...wanted }: WantedWebhook,
): Promise<{ webhook: Webhook; secret: string }> {
  const { owner } = wanted
  const { data } = await receivers.listWebhooks({ owner, limit: WEBHOOKS_MAX, cursor: null })
  if (data.length >= WEBHOOKS_MAX)
    throw new Refusal('webhook-limit', `${JSON.stringify(owner)} has ${WEBHOOKS_MAX} webhooks already.`)
  const secret = newSecret()
  const webhook = await receivers.addWebhook({ ...wanted, kinds: [...new Set(events)], secret, slots: SLOTS })
  return { webhook, secret }
}

/**
 * Refuses what can be known to be refused at each sending, so that whoever registers it learns it now. A name that does not
 * resolve, or not in time, may do so later. The answer is the URL as it is understood, so that what is shown is where it goes.
 */
export async function checkWebhookUrl(text: string, { allow, lookUp }: WebhookRules): Promise<string> {
  const guard = createAddressGuard(allow)
  const url = new URL(text)
  const why = guard.refusesUrl(url) ?? (await whyNotByName(url))
  if (why === null) return url.href
  const errors = [{ pointer: '/url', detail: why }]
  throw new Refusal('webhook-url-refused', `Nothing may be sent to this URL: ${why}.`, { errors })

  async function whyNotByName(url: URL): Promise<string | null> {
    if (!lookUp) return null
    const found = await within(LOOK_UP_MS_MAX, lookUp(url.hostname.replace(/^\[(.*)\]$/, '$1'))).catch(() => [])
    const refusals = found.map(({ address }) => guard.refusesAddress(url, address))
    return refusals.includes(null) ? null : (refusals[0] ?? null)
  }
}
