/**
 * Who hears of what happens, webhooks and mail addresses, and what was sent to them: one thin, typed call per route. A
 * new secret, a test and a redelivery are asked for again only when the service said that it did not do it: twice would
 * be one too many.
 */

import type { Repeat } from './retry.ts'
import type { CallOptions, Query } from './transport.ts'
import type {
  Delivery,
  DeliveryDetail,
  DeliveryFilter,
  NewWebhook,
  Recipient,
  RecipientBody,
  RecipientTest,
  Webhook,
  WebhookBody,
  WebhookChange,
  WebhookTest,
} from './wire-deliveries.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Content = { query?: Query; body?: unknown; repeat?: Repeat; headers?: Record<string, string> }

export type Calls = {
  call<Got>(method: Method, path: string, content: Content, options?: CallOptions): Promise<Got>
  all<Item>(path: string, query?: Query, options?: CallOptions): AsyncGenerator<Item, void, void>
  at(...names: string[]): string
}

export type OwnedBy = CallOptions & { owner?: string }
/** `oldSecretSeconds`: how long the secret of before signs too; a day when not given. */
export type RotateOptions = CallOptions & { oldSecretSeconds?: number }

export function receiversOf({ call, all, at }: Calls) {
  const repeat = 'refused'

  return {
    webhooks: {
      /** The answer has the secret, here and never again. */
      create: (webhook: WebhookBody, options?: CallOptions) =>
        call<NewWebhook>('POST', '/webhooks', { body: webhook, repeat }, options),
      list: ({ owner, ...options }: OwnedBy = {}) => all<Webhook>('/webhooks', { owner }, options),
      get: (webhookId: string, options?: CallOptions) => call<Webhook>('GET', at('webhooks', webhookId), {}, options),
      change: (webhookId: string, change: WebhookChange, options?: CallOptions) =>
        call<Webhook>('PATCH', at('webhooks', webhookId), { body: change }, options),
      /** With everything that was or was to be sent to it. */
      delete: (webhookId: string, options?: CallOptions) =>
        call<null>('DELETE', at('webhooks', webhookId), { repeat }, options),
      rotateSecret: (webhookId: string, { oldSecretSeconds, ...options }: RotateOptions = {}) => {
        const body = { old_secret_seconds: oldSecretSeconds }
        return call<NewWebhook>('POST', at('webhooks', webhookId, 'rotate-secret'), { body, repeat }, options)
      },
      /** Has a test sent; `deliveries.get` of its `delivery_id` tells how that went. */
      test: (webhookId: string, options?: CallOptions) =>
        call<WebhookTest>('POST', at('webhooks', webhookId, 'test'), { repeat }, options),
    },
    /** Where people get mail about documents. */
    recipients: {
      /** The address again sets its kinds anew, also when it had unsubscribed. */
      put: (recipient: RecipientBody, options?: CallOptions) =>
        call<Recipient>('POST', '/recipients', { body: recipient }, options),
      list: ({ owner, ...options }: OwnedBy = {}) => all<Recipient>('/recipients', { owner }, options),
      get: (recipientId: string, options?: CallOptions) =>
        call<Recipient>('GET', at('recipients', recipientId), {}, options),
      delete: (recipientId: string, options?: CallOptions) =>
        call<null>('DELETE', at('recipients', recipientId), { repeat }, options),
      test: (recipientId: string, options?: CallOptions) =>
        call<RecipientTest>('POST', at('recipients', recipientId, 'test'), { repeat }, options),
    },
    deliveries: {
      /** Newest first. */
      list: (filter: DeliveryFilter = {}, options?: CallOptions) => all<Delivery>('/deliveries', filter, options),
      /** With what was sent and answered, each time. */
      get: (deliveryId: string, options?: CallOptions) =>
        call<DeliveryDetail>('GET', at('deliveries', deliveryId), {}, options),
      /** What has ended is sent again, under the same message id. Conflict while it has not. */
      redeliver: (deliveryId: string, options?: CallOptions) =>
        call<Delivery>('POST', at('deliveries', deliveryId, 'redeliver'), { repeat }, options),
    },
  }
}
