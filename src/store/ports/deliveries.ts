/** Deliveries: claimed by relays like runs, sent, and settled under the token of their claim. */

import type { Actor } from './audit.ts'
import type { Channel, Page } from './receivers.ts'

export type DeliveryState = 'PENDING' | 'DELIVERED' | 'DEAD' | 'DROPPED'

export type Delivery = {
  id: string
  receiverId: string
  channel: Channel
  owner: string
  kind: string
  messageId: string
  /** For a fact: `{type, timestamp, data}` as it is sent; for a mail: MailData of ports/outbox.ts. */
  data: unknown
  state: DeliveryState
  createdAt: Date
  availableAt: Date
  attempts: number
  finishedAt: Date | null
  lastError: string | null
}

export type DeliveryAttempt = {
  attempt: number
  startedAt: Date
  durationMs: number | null
  request: unknown
  response: unknown
  error: string | null
}

/** What the sender needs; `to` is by channel. */
export type ClaimedDelivery = Delivery & {
  token: string
  /** Sends before this one since it was made or last redelivered. */
  tries: number
  to:
    | { channel: 'webhook'; url: string; secret: string; oldSecret: string | null }
    | { channel: 'mail'; address: string }
    | { channel: 'stream' }
}

/** How one sending went, as the store needs it. */
export type Sent = {
  id: string
  token: string
  /** `attempts` of the claimed delivery: under this number it is logged, also when the lease was lost meanwhile. */
  attempt: number
  outcome: 'delivered' | 'again' | 'dead' | 'dropped'
  /** For `again`: how long from now. */
  delayMs?: number
  startedAt: Date
  durationMs: number
  request: unknown
  response: unknown
  error: string | null
  /** The receiver said it is gone (410): it is disabled in the same transaction. */
  disable?: string
}

export type DeliveryFilter = {
  owner: string | null
  state?: DeliveryState
  channel?: Channel
  receiverId?: string
  kind?: string
  limit: number
  cursor: string | null
}

export interface Deliveries {
  /**
   * Due deliveries, oldest first for each receiver, never more than its free slots: one slow receiver takes no place from another. A receiver
   * whose last sends failed gets one at a time until one works. `leaseMs` later a delivery that was not settled is due again.
   */
  claim(options: { limit: number; leaseMs: number; channels: readonly Channel[] }): Promise<ClaimedDelivery[]>
  /** The ids that were settled; one whose lease was lost meanwhile is not, and its attempt is still logged. */
  settle(sent: readonly Sent[]): Promise<Set<string>>
  list(filter: DeliveryFilter): Promise<Page<Delivery>>
  find(id: string, owner: string | null): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] } | null>
  /** Due again at once under the same message id, with a full set of tries. `busy` while it is PENDING. */
  redeliver(id: string, owner: string | null, actor: Actor): Promise<Delivery | 'busy' | null>
  /** A delivery that tells nothing but that it works. */
  sendTest(receiverId: string, owner: string | null, deliveryId: string): Promise<Delivery | null>
}
