/** Webhooks as they are answered. Their secrets are in nothing that the store lists. */

import type { WebhookObject } from '../contract/webhook.ts'
import type { Webhook } from '../store/ports/receivers.ts'

export function presentWebhook(webhook: Webhook): WebhookObject {
  return {
    webhook_id: webhook.id,
    owner: webhook.owner,
    url: webhook.url,
    events: webhook.kinds,
    description: webhook.description,
    enabled: webhook.isEnabled,
    disabled_reason: webhook.disabledReason,
    failures: webhook.failures,
    created_at: webhook.createdAt.toISOString(),
    created_by: webhook.createdBy,
    old_secret_until: webhook.oldSecretUntil?.toISOString() ?? null,
    links: { self: `/webhooks/${webhook.id}`, deliveries: `/deliveries?receiver_id=${webhook.id}` },
  }
}
