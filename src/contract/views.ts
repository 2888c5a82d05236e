/** Saved views: a filter and an order of the list of runs under a name. */

import { z } from 'zod'
import { ListOrder } from './list.ts'
import { pageAnswer } from './page.ts'
import { RunFilterJson, RunFilterObject } from './run-filter.ts'

export const ViewBody = z.strictObject({
  /** One owner has each name once. */
  name: z
    .string()
    .min(1)
    .max(128)
    .refine((name) => !name.includes('\u0000'), 'must not contain a NUL'),
  filter: RunFilterJson,
  /** Newest first when not given. */
  order: ListOrder.nullish(),
  /** Others see it too. They see their own runs through it, not those of its owner. */
  shared: z.boolean().nullish(),
})

export const ViewObject = z.strictObject({
  view_id: z.guid(),
  owner: z.string(),
  name: z.string(),
  filter: RunFilterObject,
  order: ListOrder,
  shared: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  links: z.strictObject({ self: z.string() }),
})

export const ViewListAnswer = pageAnswer(ViewObject)

export type ViewBody = z.output<typeof ViewBody>
export type ViewObject = z.infer<typeof ViewObject>
