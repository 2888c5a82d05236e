/** Deliveries on the wire: what was told to a webhook, a mail address or the stream, each time it was tried. */

import { z } from 'zod'
import { pageAnswer, pageQuery } from './page.ts'

const time = z.iso.datetime()

/**
 * PENDING: waits to be sent, is being sent or waits for the next try. DELIVERED: it arrived. DEAD: it was tried for the last
 * time. DROPPED: its receiver wants nothing any more. Whatever has ended can be sent again.
 */
export const DeliveryState = z.enum(['PENDING', 'DELIVERED', 'DEAD', 'DROPPED'])

export const DeliveryChannel = z.enum(['webhook', 'mail', 'stream'])

export const DeliveryObject = z.strictObject({
  delivery_id: z.guid(),
  /** The webhook, the mail address or the stream. */
  receiver_id: z.guid(),
  channel: DeliveryChannel,
  /** Of the receiver; `*` for one that hears of everybody’s runs. */
  owner: z.string(),
  /** What it tells of, such as `run.succeeded`; of a mail `duplicate`, `failure`, `progress` or `batch_finished`; or `test`. */
  kind: z.string(),
  /** The same each time it is sent: receivers know a repeat by it. It is the header `webhook-id`; `Message-ID` is made of it. */
  message_id: z.string(),
  state: DeliveryState,
  created_at: time,
  /** When it is sent next, or, while it is being sent, when it is taken for lost; null when it has ended. */
  next_attempt_at: time.nullable(),
  attempt_count: z.int().min(0),
  finished_at: time.nullable(),
  /** Of the last attempt; null when it worked, and before the first. */
  last_error: z.string().nullable(),
  links: z.strictObject({ self: z.string() }),
})

/** One time it was sent. */
export const DeliveryAttemptObject = z.strictObject({
  attempt: z.int().min(1),
  started_at: time,
  /** Null when nobody said how it went, as when the process that sent it was ended. */
  duration_ms: z.number().min(0).nullable(),
  /** What was sent, without its signature. */
  request: z.unknown(),
  /** What was answered, cut when it was long. */
  response: z.unknown(),
  error: z.string().nullable(),
})

/** A mail as its reader has it, without the link to unsubscribe. */
export const DeliveryMailObject = z.strictObject({ subject: z.string(), text: z.string(), html: z.string() })

export const DeliveryDetailObject = DeliveryObject.extend({
  /** What is told. */
  data: z.unknown(),
  /** The latest, oldest first. */
  attempts: z.array(DeliveryAttemptObject),
  /** Null when it is no mail. */
  mail: DeliveryMailObject.nullable(),
})

export const DeliveryListQuery = z.strictObject({
  ...pageQuery,
  /** Only those of receivers of this owner. */
  owner: z.string().min(1).max(255).optional(),
  state: DeliveryState.optional(),
  channel: DeliveryChannel.optional(),
  /** Only those of this webhook or mail address. */
  receiver_id: z.guid().optional(),
  kind: z.string().min(1).max(64).optional(),
})

export const DeliveryListAnswer = pageAnswer(DeliveryObject)

export type DeliveryState = z.infer<typeof DeliveryState>
export type DeliveryChannel = z.infer<typeof DeliveryChannel>
export type DeliveryObject = z.infer<typeof DeliveryObject>
export type DeliveryAttemptObject = z.infer<typeof DeliveryAttemptObject>
export type DeliveryMailObject = z.infer<typeof DeliveryMailObject>
export type DeliveryDetailObject = z.infer<typeof DeliveryDetailObject>
export type DeliveryListAnswer = z.infer<typeof DeliveryListAnswer>
