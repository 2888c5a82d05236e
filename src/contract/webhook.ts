/**
 * Webhooks on the wire. A secret is in two answers only: that of the request that made it and that of the one that changed it.
 */

import { z } from 'zod'
import { FACT_KINDS } from '../run/fact-kinds.ts'
import { pageAnswer, pageQuery } from './page.ts'

export const WEBHOOK_URL_LENGTH_MAX = 2_048
/** A day. */
export const OLD_SECRET_SECONDS_DEFAULT = 24 * 3600
export const OLD_SECRET_SECONDS_MAX = 30 * 24 * 3600

const time = z.iso.datetime()

/** What a webhook can hear of. */
export const WebhookEventName = z.enum(FACT_KINDS)

const url = z
  .string()
  .max(WEBHOOK_URL_LENGTH_MAX)
  .refine((text) => URL.canParse(text), 'must be a URL such as https://hooks.example.org/holdfast')
const events = z.array(WebhookEventName).min(1).max(100)
const description = z.string().max(500).nullish()

export const WebhookBody = z.strictObject({
  /** With https, at port 443 or 8443 of a host of the public internet, unless an operator has allowed more. */
  url,
  /** What it wants to hear of. */
  events,
  /** For people. */
  description,
  /** `*`: it hears of what happens to everybody’s runs, for operators. Without it, of those of the caller’s owner. */
  owner: z.literal('*').nullish(),
})

/** What is not given stays as it is. */
export const WebhookChangeBody = z.strictObject({
  url: url.optional(),
  events: events.optional(),
  /** Null takes it away. */
  description,
  /** `true` after it was disabled: what waited is sent at once. */
  enabled: z.boolean().optional(),
})

export const WebhookObject = z.strictObject({
  webhook_id: z.guid(),
  /** Whose runs it hears of; `*` for everybody’s. */
  owner: z.string(),
  url: z.string(),
  events: z.array(WebhookEventName),
  description: z.string().nullable(),
  enabled: z.boolean(),
  /** Why it is not enabled, such as that it answered 410; null while it is. */
  disabled_reason: z.string().nullable(),
  /** Sends that failed since the last one that worked. */
  failures: z.int().min(0),
  created_at: time,
  created_by: z.string(),
  /** Until when the secret of before signs too; null when it does not. */
  old_secret_until: time.nullable(),
  links: z.strictObject({ self: z.string(), deliveries: z.string() }),
})

export const WebhookMadeAnswer = WebhookObject.extend({
  /** What signatures are verified with. Shown here and never again. */
  secret: z.string(),
})

export const WebhookListQuery = z.strictObject({
  ...pageQuery,
  /** Only those of this owner; `*` for those that hear of everybody’s runs. */
  owner: z.string().min(1).max(255).optional(),
})

export const WebhookListAnswer = pageAnswer(WebhookObject)

export const RotateSecretBody = z.strictObject({
  /** How long the secret of before signs too; a day when not given, 0 for not at all. */
  old_secret_seconds: z.int().min(0).max(OLD_SECRET_SECONDS_MAX).nullish(),
})

export const WebhookTestAnswer = z.strictObject({
  delivery_id: z.guid(),
  webhook_id: z.guid(),
  /** As the header `webhook-id` has it. */
  message_id: z.string(),
  links: z.strictObject({ self: z.string() }),
})

export type WebhookBody = z.infer<typeof WebhookBody>
export type WebhookChangeBody = z.infer<typeof WebhookChangeBody>
export type WebhookObject = z.infer<typeof WebhookObject>
export type WebhookMadeAnswer = z.infer<typeof WebhookMadeAnswer>
export type WebhookListAnswer = z.infer<typeof WebhookListAnswer>
export type RotateSecretBody = z.infer<typeof RotateSecretBody>
export type WebhookTestAnswer = z.infer<typeof WebhookTestAnswer>
