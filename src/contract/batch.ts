/** `POST /runs/batch`: many runs in one request, each accepted or refused on its own. */

import { z } from 'zod'
import { ProblemObject } from './problem.ts'
import { SubmitAnswer } from './run.ts'
import { SubmitBody } from './submit.ts'

export const BATCH_RUNS_MAX = 1_000
export const BATCH_BODY_BYTES_MAX = 16 * 1024 * 1024

export const BatchBody = z.strictObject({ runs: z.array(SubmitBody).max(BATCH_RUNS_MAX) })

/** What is asked of the body before its items are looked at, each by itself. */
export const BatchEnvelope = z.strictObject({ runs: z.array(z.unknown()).max(BATCH_RUNS_MAX) })

export const BatchAnswer = z.strictObject({
  /** In the order of the request. */
  data: z.array(
    z.strictObject({
      /** The status that `POST /runs` would have answered with this body. */
      status: z.int().min(200).max(599),
      /** Null when refused. An older run comes without its attempts, as in lists. */
      run: SubmitAnswer.nullable(),
      /** Why it was refused, or null; its pointers start at the item. */
      problem: ProblemObject.nullable(),
    }),
  ),
})

export type BatchBody = z.infer<typeof BatchBody>
export type BatchAnswer = z.infer<typeof BatchAnswer>
