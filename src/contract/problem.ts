/** Every refusal on the wire: RFC 9457 `application/problem+json`. More names may follow, depending on the code. */

import { z } from 'zod'
import type { ErrorCode } from '../run/errors.ts'

export const PROBLEM_CONTENT_TYPE = 'application/problem+json'

export const ProblemObject = z.looseObject({
  /** Stable per code; not an address. */
  type: z.string(),
  title: z.string(),
  status: z.int().min(400).max(599),
  code: z.custom<ErrorCode>((value) => typeof value === 'string').meta({ type: 'string' }),
  /** For a person: what is wrong with this request. */
  detail: z.string(),
  /** For a person: what to do about it. */
  next: z.string(),
  /** Whether the same request, sent again unchanged, may succeed. */
  retryable: z.boolean(),
  /** The id of the request, as in the `X-Request-Id` header and in the log. */
  instance: z.string(),
  /** Each place of the body that is at fault; the pointers are RFC 6901 and start at the body. */
  errors: z.array(z.strictObject({ pointer: z.string(), detail: z.string() })).optional(),
})

export type ProblemObject = z.infer<typeof ProblemObject>
