/** What short lists share: a page size and a cursor in the query, `data` and `next_cursor` in the answer. */

import { z } from 'zod'

export const PAGE_LIMIT_DEFAULT = 50
export const PAGE_LIMIT_MAX = 200

export const pageQuery = {
  limit: z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(1).max(PAGE_LIMIT_MAX))
    .optional(),
  /** `next_cursor` of the page before. */
  cursor: z.string().min(1).max(500).optional(),
}

export const PageQuery = z.strictObject(pageQuery)

export type PageQuery = z.infer<typeof PageQuery>

export function pageAnswer<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    data: z.array(item),
    /** Null on the last page. */
    next_cursor: z.string().nullable(),
  })
}
