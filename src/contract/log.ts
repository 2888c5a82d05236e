/**
 * What attempts printed, on the wire: in pages, and as server-sent events, where each piece is the `data` of one message. Values of
 * sensitive parameters are replaced by a marker before anything is stored.
 */

import { z } from 'zod'

export const LOG_LIMIT_DEFAULT = 100
export const LOG_LIMIT_MAX = 1_000

export const LogObject = z.strictObject({
  /** 1, 2, 3 … of the run, over all its attempts. */
  no: z.int().min(1),
  attempt: z.int().min(1),
  at: z.iso.datetime(),
  /** `log`: a message, by the model's own logging or about the attempt. */
  stream: z.enum(['stdout', 'stderr', 'log']),
  /** As it was printed; a piece need not end with a line. */
  text: z.string(),
})

const number = z.string().regex(/^\d{1,9}$/, 'must be a whole number')

export const LogQuery = z.strictObject({
  /** Only what this attempt printed. */
  attempt: number.transform(Number).pipe(z.int().min(1)).optional(),
  /** Only pieces with higher numbers: `next_cursor` of the page before, or the `no` of the last piece seen. */
  after: number.transform(Number).optional(),
  limit: number.transform(Number).pipe(z.int().min(1).max(LOG_LIMIT_MAX)).optional(),
})

export const LogList = z.strictObject({
  data: z.array(LogObject),
  /** Null when there is nothing more now. */
  next_cursor: z.string().nullable(),
})

export type LogObject = z.infer<typeof LogObject>
export type LogQuery = z.infer<typeof LogQuery>
export type LogList = z.infer<typeof LogList>
