/** Mail addresses as they are answered. */

import type { RecipientObject } from '../contract/recipient.ts'
import type { MailAddress } from '../store/ports/receivers.ts'

export function presentRecipient(recipient: MailAddress): RecipientObject {
  const { id } = recipient
  return {
    recipient_id: id,
    owner: recipient.owner,
    address: recipient.address,
    kinds: recipient.kinds,
    enabled: recipient.isEnabled,
    disabled_reason: recipient.disabledReason,
    failures: recipient.failures,
    created_at: recipient.createdAt.toISOString(),
    created_by: recipient.createdBy,
    links: { self: `/recipients/${id}`, deliveries: `/deliveries?receiver_id=${id}` },
  }
}
