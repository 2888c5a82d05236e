/** `GET /failures`: failed runs grouped by model and error class, the dead-letter list. */

import { z } from 'zod'
import { pageAnswer, pageQuery } from './page.ts'
import { RunFilterObject } from './run-filter.ts'

export const FailuresQuery = z.strictObject({
  /** All models when not given. */
  model: z
    .string()
    .min(1)
    .max(128)
    .refine((model) => !model.includes('\u0000'), 'must not contain a NUL')
    .optional(),
  ...pageQuery,
})

export const FailureGroupObject = z.strictObject({
  model: z.string(),
  error_class: z.string(),
  /** Counted up to 10,000. */
  count: z.int().min(1),
  /** True when counting stopped there: there are at least so many, or of one owner so many among the newest. */
  count_capped: z.boolean(),
  /** When the newest and the oldest of them were created. */
  newest_at: z.iso.datetime(),
  oldest_at: z.iso.datetime(),
  /** The newest one, and the first words of its error. */
  example: z.strictObject({ run_id: z.guid(), message: z.string() }),
  /** Lists exactly these runs, and is what `POST /bulk` takes to retry them. */
  filter: RunFilterObject,
})

export const FailuresAnswer = pageAnswer(FailureGroupObject)

export type FailureGroupObject = z.infer<typeof FailureGroupObject>
