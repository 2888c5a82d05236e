/** The port to a channel: tries to hand one delivery over, once. It never throws for what a receiver does; the relay decides about the next try. */

import type { ClaimedDelivery } from '../store/ports/deliveries.ts'
import type { Channel } from '../store/ports/receivers.ts'

export type Handed = {
  /** `refused`: will never work, such as an address that may not be reached. `gone`: the receiver wants nothing any more. */
  outcome: 'delivered' | 'failed' | 'refused' | 'gone'
  /** When the receiver said how long to wait. */
  retryAfterMs?: number
  /** As the log of deliveries shows it; never a secret. */
  request: unknown
  response: unknown
  error: string | null
}

export interface Sender {
  readonly channel: Channel
  /** More at once would only wait for each other, while the time of each runs out; as many as the relay likes without it. */
  readonly sendsMax?: number
  send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Handed>
  close(): Promise<void>
}
