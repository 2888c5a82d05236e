/** What an operator says when it approves or rejects a run. */

import { z } from 'zod'

export const REASON_LENGTH_MAX = 1_000

export const ApprovalBody = z.strictObject({
  /** For the record: it is shown with the run's events, and with a rejected run. */
  reason: z
    .string()
    .min(1)
    .max(REASON_LENGTH_MAX)
    .refine((text) => !text.includes('\u0000') && text.isWellFormed(), 'must not contain a NUL or half a character')
    .nullish(),
})

export type ApprovalBody = z.infer<typeof ApprovalBody>
