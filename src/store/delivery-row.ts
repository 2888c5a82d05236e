/** A delivery as its row has it. */

import type { Delivery, DeliveryState } from './ports/deliveries.ts'
import type { Channel } from './ports/receivers.ts'

/** The moment as text too: a Date has no microseconds, and pages go on behind it. */
export const DELIVERY_COLUMNS = `d.id, d.receiver_id, d.channel, d.owner, d.kind, d.message_id, d.data, d.state,
  d.created_at, d.available_at, d.attempts, d.finished_at, d.last_error,
  to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_text`

export type DeliveryRow = {
  id: string
  receiver_id: string
  channel: Channel
  owner: string
  kind: string
  message_id: string
  data: unknown
  state: DeliveryState
  created_at: Date
  available_at: Date
  attempts: number
  finished_at: Date | null
  last_error: string | null
  created_text: string
}

export function deliveryOfRow(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    receiverId: row.receiver_id,
    channel: row.channel,
    owner: row.owner,
    kind: row.kind,
    messageId: row.message_id,
    data: row.data,
    state: row.state,
    createdAt: row.created_at,
    availableAt: row.available_at,
    attempts: row.attempts,
    finishedAt: row.finished_at,
    lastError: row.last_error,
  }
}
