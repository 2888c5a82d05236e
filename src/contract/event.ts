/**
 * Events on the wire, alone, in pages and as server-sent events, where each is the `data` of one message. Every name is
 * always there: what does not exist is null. Values of sensitive names in `data` are replaced by a marker.
 */

import { z } from 'zod'
import { AttemptObject, RunStatusName } from './run.ts'

export const EVENT_LIMIT_DEFAULT = 100
export const EVENT_LIMIT_MAX = 1_000

export const EventObject = z.strictObject({
  run_id: z.guid(),
  /** 1, 2, 3 … of this run, without gaps. Together with `run_id` it names the event. */
  seq: z.int().min(1),
  type: z.string(),
  at: z.iso.datetime(),
  attempt: z.int().nullable(),
  worker_id: z.string().nullable(),
  /** Of the run after the event. */
  status: RunStatusName.nullable(),
  message: z.string().nullable(),
  data: z.unknown(),
})

const limit = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number)
  .pipe(z.int().min(1).max(EVENT_LIMIT_MAX))
  .optional()

export const RunEventQuery = z.strictObject({
  /** Only events with higher numbers: `next_cursor` of the page before, or the `seq` of the last event seen. */
  after: z
    .string()
    .regex(/^\d{1,9}$/, 'must be the number of an event')
    .transform(Number)
    .optional(),
  limit,
})

const several = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [given].flat().flatMap((text) => text.split(',')))
  .pipe(z.array(z.string().min(1).max(255)).max(20))
  .optional()

/** Names may be repeated or hold several values with commas between: any of them. Different names: all of them. */
export const FeedQuery = z.strictObject({
  /** `next_cursor` of the page before, or the id of the last message seen. Without it the feed begins now. */
  after: z.string().min(1).max(4_096).optional(),
  limit,
  owner: several,
  model: several,
  queue: several,
  type: several,
})

export const RunEventList = z.strictObject({
  data: z.array(EventObject),
  /** Null when there is nothing more now. */
  next_cursor: z.string().nullable(),
})

export const FeedPage = z.strictObject({
  data: z.array(EventObject),
  /** Never null: the feed goes on. An empty page means that nothing more has happened yet. */
  next_cursor: z.string(),
})

/** The data of the message `reset`: the place asked for is not known here, and the feed goes on from before it. */
export const FeedReset = z.strictObject({ code: z.literal('cursor-lost'), detail: z.string() })

export const AttemptList = z.strictObject({ data: z.array(AttemptObject), next_cursor: z.null() })

export type EventObject = z.infer<typeof EventObject>
export type RunEventQuery = z.infer<typeof RunEventQuery>
export type FeedQuery = z.infer<typeof FeedQuery>
export type RunEventList = z.infer<typeof RunEventList>
export type FeedPage = z.infer<typeof FeedPage>
export type FeedReset = z.infer<typeof FeedReset>
export type AttemptList = z.infer<typeof AttemptList>
