/** The query of `GET /runs` and its answer: newest first, one page at a time. */

import { z } from 'zod'
import { RunObject, RunStatusName } from './run.ts'

export const LIST_LIMIT_DEFAULT = 50
export const LIST_LIMIT_MAX = 200

/** Names may be repeated; `status` may also hold several values with commas between. */
export const ListQuery = z.strictObject({
  status: z
    .union([z.string(), z.array(z.string())])
    .transform((value) => [value].flat().flatMap((text) => text.split(',')))
    .pipe(z.array(RunStatusName))
    .optional(),
  limit: z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(1).max(LIST_LIMIT_MAX))
    .optional(),
  /** `next_cursor` of the page before. */
  cursor: z.string().min(1).max(200).optional(),
})

export const ListAnswer = z.strictObject({
  data: z.array(RunObject),
  /** Null on the last page. */
  next_cursor: z.string().nullable(),
})

export type ListQuery = z.infer<typeof ListQuery>
export type ListAnswer = z.infer<typeof ListAnswer>
