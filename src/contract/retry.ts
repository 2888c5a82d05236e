/** Retries on the wire. The body of `POST /runs/{id}/retry` may be left out; the answer is that of a submit. */

import { z } from 'zod'
import { pageAnswer } from './page.ts'
import { RunStatusName } from './run.ts'

export const RetryBody = z.strictObject({
  /** `failed_step` keeps the outputs of all steps that are done, and begins with the first that is not. The start when not given. */
  from: z.enum(['start', 'failed_step']).nullish(),
})

export type RetryBody = z.infer<typeof RetryBody>

/** A run that retries another. */
export const RunRetryObject = z.strictObject({ run_id: z.guid(), status: RunStatusName, created_at: z.iso.datetime() })

export const RunRetryList = pageAnswer(RunRetryObject)

export type RunRetryObject = z.infer<typeof RunRetryObject>
export type RunRetryList = z.infer<typeof RunRetryList>
