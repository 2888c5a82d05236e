/** The body of `POST /runs/{id}/retry`, which may be left out. The answer is that of a submit. */

import { z } from 'zod'

export const RetryBody = z.strictObject({
  /** `failed_step` keeps the outputs of all steps that are done, and begins with the first that is not. The start when not given. */
  from: z.enum(['start', 'failed_step']).nullish(),
})

export type RetryBody = z.infer<typeof RetryBody>
