/** Mail addresses on the wire: where people of an owner are told about documents, and about what. */

import { z } from 'zod'
import { MAIL_KINDS } from '../run/fact-kinds.ts'
import { pageAnswer, pageQuery } from './page.ts'

export const ADDRESS_LENGTH_MAX = 254

const time = z.iso.datetime()

/**
 * duplicate: documents that had been uploaded before. failure: documents that could not be processed, after all retries. progress: each 1,000
 * documents that are done, or as many as are configured. batch_finished: nothing of a batch waits or runs any more.
 */
export const MailKind = z.enum(MAIL_KINDS)

/** As zod has it, but no part of the domain ends with a hyphen. */
const MAIL_ADDRESS =
  /^[A-Za-z0-9_'+-]+(?:\.[A-Za-z0-9_'+-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,}$/

export const RecipientBody = z.strictObject({
  /** One address. It gets nothing for which it has unsubscribed until it is put here again. */
  address: z
    .email({ pattern: MAIL_ADDRESS, error: 'must be a mail address such as ada@example.org' })
    .max(ADDRESS_LENGTH_MAX),
  /** What it is told about; everything when not given. */
  kinds: z.array(MailKind).min(1).max(100).nullish(),
  /** `*`: about everybody’s documents, for operators. Without it, about those of the caller’s owner. */
  owner: z.literal('*').nullish(),
})

export const RecipientObject = z.strictObject({
  recipient_id: z.guid(),
  /** Whose documents it is told about; `*` for everybody’s. */
  owner: z.string(),
  address: z.string(),
  /** What it is told about, while it is enabled. */
  kinds: z.array(MailKind),
  enabled: z.boolean(),
  /** Why it is not enabled, such as that it has unsubscribed from everything; null while it is. */
  disabled_reason: z.string().nullable(),
  /** Mails that failed since the last one that was taken. */
  failures: z.int().min(0),
  created_at: time,
  created_by: z.string(),
  links: z.strictObject({ self: z.string(), deliveries: z.string() }),
})

export const RecipientListQuery = z.strictObject({
  ...pageQuery,
  /** Only those of this owner; `*` for those that are told about everybody’s documents. */
  owner: z.string().min(1).max(255).optional(),
})

export const RecipientListAnswer = pageAnswer(RecipientObject)

export const RecipientTestAnswer = z.strictObject({
  delivery_id: z.guid(),
  recipient_id: z.guid(),
  /** What `Message-ID` is made of. */
  message_id: z.string(),
  links: z.strictObject({ self: z.string() }),
})

export const UnsubscribeQuery = z.strictObject({
  /** As the link in a mail has it. */
  token: z.string().min(1).max(500),
  /** `true`: from everything, not only from mails like the one with the link. */
  all: z.enum(['true', 'false']).optional(),
})

export type RecipientBody = z.infer<typeof RecipientBody>
export type RecipientObject = z.infer<typeof RecipientObject>
export type RecipientListAnswer = z.infer<typeof RecipientListAnswer>
export type RecipientTestAnswer = z.infer<typeof RecipientTestAnswer>
