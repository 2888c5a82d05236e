/** Steps of runs on the wire: as a worker commits them, as later attempts get them, and as people see them. */

import { z } from 'zod'
import { STEP_NAME_LENGTH_MAX } from '../run/step-names.ts'
import { pageQuery } from './page.ts'

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
  /** What it used, as far as that can be told apart. */
  cpu_seconds: z.number().min(0).max(1e9).nullish(),
  peak_memory_bytes: z.int().min(0).nullish(),
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
  name: z.string(),
  /** PENDING: the model has such a step and it has not begun, or is to begin again. WAITING: it failed and will be tried again where it stands. */
  state: z.enum(['PENDING', 'RUNNING', 'WAITING', 'SUCCEEDED', 'FAILED']),
  /** Of the attempt it was done in, or that is under way; 0 before the first. Of a map: of the item that needed most. */
  tries: z.int().min(0),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  duration_seconds: z.number().min(0).nullable(),
  /** What it used, where that can be told apart from other work. */
  cpu_seconds: z.number().nullable(),
  peak_memory_bytes: z.int().nullable(),
  /** The attempt that did it, or does. */
  attempt: z.int().min(1).nullable(),
  /** 1, 2, 3 … of the run that did it, in the order of the commits; null while it is not done. */
  no: z.int().min(1).nullable(),
  /** The run it was taken over from; null when this run did it itself. */
  from_run_id: z.guid().nullable(),
  /** With sensitive values hidden; null for one of more than 4 KiB, and for a map. */
  output: z.unknown(),
  /** `inline`, or the reference of a large one in the artifact store. */
  output_ref: z.string().nullable(),
  /** SHA-256 of its canonical form. */
  output_hash: z.string().nullable(),
  output_bytes: z.int().min(0).nullable(),
  /** Of the last try that failed, while the step is not done. */
  last_error: z.strictObject({ class: z.string(), message: z.string() }).nullable(),
  /** Of a map: how many items are done, of how many as far as that is known. They are listed by `?items=<name>`. */
  items: z.strictObject({ done: z.int().min(0), of: z.int().min(0).nullable() }).nullable(),
})

/** Without a query all steps; `limit` and `cursor` are for the items of a map. */
export const StepQuery = z.strictObject({
  /** The name of a map whose finished items are wanted instead, by their place. */
  items: z.string().min(1).max(STEP_NAME_LENGTH_MAX).optional(),
  ...pageQuery,
})

export const StepList = z.strictObject({
  data: z.array(StepObject),
  /** Null on the last page. */
  next_cursor: z.string().nullable(),
})

/** What a later attempt of the run needs to know of a step; the output is whole. */
export const DoneStepObject = z.strictObject({ name: z.string(), output: z.unknown() })

export type StepBody = z.infer<typeof StepBody>
export type CommittedStepObject = z.infer<typeof CommittedStepObject>
export type StepObject = z.infer<typeof StepObject>
export type StepQuery = z.infer<typeof StepQuery>
export type StepList = z.infer<typeof StepList>
export type DoneStepObject = z.infer<typeof DoneStepObject>
