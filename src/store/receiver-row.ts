/** Webhooks and mail addresses as their rows have them. A secret is in none of these columns. */

import type { FactKind, MailKind } from '../run/fact-kinds.ts'
import type { MailAddress, Receiver, Webhook } from './ports/receivers.ts'

/** The moment as text too: a Date has no microseconds, and pages go on behind it. */
const RECEIVER_COLUMNS = `r.id, r.owner, r.kinds, r.is_enabled, r.disabled_reason, r.failures, r.created_at, r.created_by,
  to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_text`

export const WEBHOOK_COLUMNS = `${RECEIVER_COLUMNS}, w.url, w.description,
  CASE WHEN w.old_secret_until > clock() THEN w.old_secret_until END AS old_secret_until`
export const ADDRESS_COLUMNS = `${RECEIVER_COLUMNS}, a.address`

export type ReceiverRow = {
  id: string
  owner: string
  kinds: string[]
  is_enabled: boolean
  disabled_reason: string | null
  failures: number
  created_at: Date
  created_by: string
  created_text: string
}
export type WebhookRow = ReceiverRow & { url: string; description: string | null; old_secret_until: Date | null }
export type AddressRow = ReceiverRow & { address: string }

export function webhookOfRow(row: WebhookRow): Webhook {
  const { url, description, old_secret_until: oldSecretUntil } = row
  return { ...receiverOfRow(row), url, kinds: row.kinds as FactKind[], description, oldSecretUntil }
}

export function addressOfRow(row: AddressRow): MailAddress {
  return { ...receiverOfRow(row), address: row.address, kinds: row.kinds as MailKind[] }
}

function receiverOfRow(row: ReceiverRow): Receiver {
  return {
    id: row.id,
    owner: row.owner,
    isEnabled: row.is_enabled,
    disabledReason: row.disabled_reason,
    failures: row.failures,
    createdAt: row.created_at,
    createdBy: row.created_by,
  }
}
