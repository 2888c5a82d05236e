/** Batches: runs and uploads that were handed in together, and how far they are. */

import { z } from 'zod'
import { pageAnswer, pageQuery } from './page.ts'

export const NewBatchBody = z.strictObject({
  /** For people. */
  title: z
    .string()
    .min(1)
    .max(200)
    .refine((title) => !title.includes('\u0000'), 'must not contain a NUL')
    .nullish(),
  /** A UUID of the caller's; made by the service when not given. The same id again is the same batch. */
  batch_id: z.guid().nullish(),
})

export const BatchListQuery = z.strictObject({
  ...pageQuery,
  /** Only batches of this owner. */
  owner: z.string().min(1).max(255).optional(),
})

const named = {
  batch_id: z.guid(),
  owner: z.string(),
  /** Null without one. */
  title: z.string().nullable(),
  created_at: z.iso.datetime(),
}

const counted = {
  /** The sum of the others. A run that was retried counts once, as its newest retry does. */
  total: z.int().min(0),
  /** PENDING. */
  waiting: z.int().min(0),
  /** RUNNING. */
  running: z.int().min(0),
  /** SUCCEEDED, and uploads that asked for no run. */
  done: z.int().min(0),
  failed: z.int().min(0),
  cancelled: z.int().min(0),
  /** Uploads of what the owner had handed in before. They made no run. */
  duplicate: z.int().min(0),
  /** Nothing is waiting or running, and the batch is not empty. More may be handed in; then it is not finished any more. */
  finished: z.boolean(),
}

const links = z.strictObject({ self: z.string(), runs: z.string(), uploads: z.string(), events: z.string() })

export const ListedBatch = z.strictObject({ ...named, links })

/** A batch and how far it is. */
export const BatchObject = z.strictObject({ ...named, ...counted, links })

/** The data of a message about a batch. */
export const BatchProgress = z.strictObject({ batch_id: z.guid(), ...counted })

export const BatchList = pageAnswer(ListedBatch)

export type NewBatchBody = z.output<typeof NewBatchBody>
export type ListedBatch = z.infer<typeof ListedBatch>
export type BatchObject = z.infer<typeof BatchObject>
export type BatchProgress = z.infer<typeof BatchProgress>
export type BatchList = z.infer<typeof BatchList>
