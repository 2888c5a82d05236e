/** Deliveries in words, and their filter in the address. Pure. */

import type { Delivery, DeliveryChannel, DeliveryFilter, DeliveryState } from '@holdfast/client'
import type { Look } from '../../parts/tone-badge.tsx'
import { type Search, textIn } from '../../search.ts'

export const STATE_LOOKS: Record<DeliveryState, Look> = {
  PENDING: { word: 'PENDING', shape: '○', tone: 'waiting' },
  DELIVERED: { word: 'DELIVERED', shape: '✓', tone: 'good' },
  DEAD: { word: 'DEAD', shape: '✕', tone: 'bad' },
  DROPPED: { word: 'DROPPED', shape: '⊘', tone: 'quiet' },
}

export const CHANNEL_WORDS: Record<DeliveryChannel, string> = { webhook: 'Webhook', mail: 'Mail', stream: 'Stream' }

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** What the address asks for. What the API does not know is left out, so that an old link still shows something. */
export function filterIn(search: Search): DeliveryFilter {
  const state = textIn(search, 'state')
  const channel = textIn(search, 'channel')
  const receiver = textIn(search, 'receiver')
  const kind = textIn(search, 'kind')
  const owner = textIn(search, 'owner')
  return {
    ...(state && Object.hasOwn(STATE_LOOKS, state) && { state: state as DeliveryState }),
    ...(channel && Object.hasOwn(CHANNEL_WORDS, channel) && { channel: channel as DeliveryChannel }),
    ...(receiver && UUID.test(receiver) && { receiver_id: receiver }),
    ...(kind && kind.length <= 64 && { kind }),
    ...(owner && { owner }),
  }
}

/** The run that a delivery tells of, if it tells of one. */
export function runIdIn(data: unknown): string | null {
  const inner = data !== null && typeof data === 'object' ? (data as { data?: unknown }).data : null
  const id = inner !== null && typeof inner === 'object' ? (inner as { run_id?: unknown }).run_id : null
  return typeof id === 'string' && UUID.test(id) ? id : null
}

/** What has ended without arriving. Sending again what did arrive is possible too, but seldom meant. */
export function isUndelivered({ state }: Pick<Delivery, 'state'>): boolean {
  return state === 'DEAD' || state === 'DROPPED'
}

/** What became of it, in a sentence. */
export function stateWords({ state, attempt_count: tries }: Pick<Delivery, 'state' | 'attempt_count'>): string {
  const times = tries === 1 ? 'once' : `${tries} times`
  if (state === 'DELIVERED') return tries <= 1 ? 'It arrived.' : `It arrived, after it was tried ${times}.`
  if (state === 'DEAD') return `It was tried ${times}, and is not tried again by itself.`
  if (state === 'DROPPED') return 'Its receiver is gone or wants nothing like it any more.'
  return tries === 0 ? 'It waits to be sent.' : `It was tried ${times} and is tried again.`
}

/** A message with its body as JSON where it is the text of JSON: quotes within quotes nobody can read. */
export function readable(message: unknown): unknown {
  const body = message !== null && typeof message === 'object' ? (message as { body?: unknown }).body : null
  if (typeof body !== 'string') return message
  try {
    return { ...(message as object), body: JSON.parse(body) }
  } catch {
    return message
  }
}
