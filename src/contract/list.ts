/** The query of `GET /runs` and its answer: the filter, the order and which page. */

import { z } from 'zod'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, pageQuery } from './page.ts'
import { RunObject } from './run.ts'
import { RunFilterQuery } from './run-filter.ts'

export const LIST_LIMIT_DEFAULT = PAGE_LIMIT_DEFAULT
export const LIST_LIMIT_MAX = PAGE_LIMIT_MAX

export const ListOrder = z.enum(['created_at_desc', 'created_at_asc'])

export const ListQuery = z.strictObject({
  ...RunFilterQuery.shape,
  /** Newest first when not given. */
  order: ListOrder.optional(),
  limit: pageQuery.limit,
  /** `next_cursor` of the page before, with the same filter and order. */
  cursor: z.string().min(1).max(200).optional(),
})

export const ListAnswer = z.strictObject({
  data: z.array(RunObject),
  /** Null on the last page. A page with a cursor may be short or even empty: more may follow. */
  next_cursor: z.string().nullable(),
})

export type ListQuery = z.infer<typeof ListQuery>
export type ListAnswer = z.infer<typeof ListAnswer>
