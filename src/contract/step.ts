/** Steps of runs on the wire: as a worker commits them, as later attempts get them, and as people see them. */

import { z } from 'zod'

export const STEP_NAME_LENGTH_MAX = 128
/** Of one run. */
export const STEPS_MAX = 1_000
/** Larger outputs are not shown in lists. */
export const STEP_SHOWN_BYTES_MAX = 4 * 1024

const name = z
  .string()
  .min(1)
  .max(STEP_NAME_LENGTH_MAX)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
  .meta({ examples: ['fit'] })

export const StepBody = z.strictObject({
  /** One per step of the run. */
  name,
  /** Any JSON; null when not given. */
  output: z.unknown().optional(),
  /** How often it was tried until it went well; 1 when not given. */
  tries: z.int().min(1).max(1_000_000).nullish(),
  /** By the worker's own clock. */
  started_at: z.iso.datetime({ offset: true }).nullish(),
})

const committed = {
  name: z.string(),
  /** 1, 2, 3 … of the run, in the order of the commits. */
  no: z.int().min(1),
  /** The attempt that committed it. */
  attempt: z.int().min(1),
  /** As the worker said it, never after `finished_at`. */
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime(),
  tries: z.int().min(1),
  /** `inline`, or the reference of a large one in the artifact store. */
  output_ref: z.string(),
  /** SHA-256 of its canonical form. */
  output_hash: z.string(),
  output_bytes: z.int().min(0),
}

/** A step as it was kept, the same again when the request is repeated. */
export const CommittedStepObject = z.strictObject(committed)

export const StepObject = z.strictObject({
  ...committed,
  /** With sensitive values hidden; null for one of more than 4 KiB. */
  output: z.unknown(),
})

export const StepList = z.strictObject({ data: z.array(StepObject), next_cursor: z.null() })

/** What a later attempt of the run needs to know of a step; the output is whole. */
export const DoneStepObject = z.strictObject({ name: z.string(), output: z.unknown() })

export type StepBody = z.infer<typeof StepBody>
export type CommittedStepObject = z.infer<typeof CommittedStepObject>
export type StepObject = z.infer<typeof StepObject>
export type StepList = z.infer<typeof StepList>
export type DoneStepObject = z.infer<typeof DoneStepObject>
