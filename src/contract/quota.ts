/**
 * Quotas on the wire: rules of an owner, of a model or of everyone, and how much of them is used. A limit that is null is none. Days and
 * months are UTC; amounts of cost have the unit that the models use.
 */

import { z } from 'zod'
import { MODEL_NAME, MODEL_NAME_WANTED } from '../run/model-names.ts'
import { pageAnswer, pageQuery } from './page.ts'

export const QUOTA_RUNS_MAX = 1_000_000_000
export const QUOTA_COST_MAX = 1e12

const time = z.iso.datetime()
const runs = z.int().min(0).max(QUOTA_RUNS_MAX)
const cost = z.number().min(0).max(QUOTA_COST_MAX)
const ownerName = z.string().regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters')

/** What happens to a run that is over a limit: refused, accepted with a warning, or kept waiting until an operator approves it. */
export const QuotaAction = z.enum(['block', 'warn', 'require_approval'])

export const QuotaLimitName = z.enum([
  'max_concurrent',
  'runs_per_hour',
  'runs_per_day',
  'cost_per_day',
  'cost_per_month',
])

const name = {
  /** `*` for everyone. */
  owner: z.string(),
  /** Null for all models. */
  model: z.string().nullable(),
  /** Of everyone: all owners are counted as one, not each by itself. */
  together: z.boolean(),
}

const limits = {
  /** Runs that have not ended, and reservations. */
  max_concurrent: runs.nullable(),
  /** Runs created within the last hour. */
  runs_per_hour: runs.nullable(),
  /** Runs created within the last 24 hours. */
  runs_per_day: runs.nullable(),
  /** What runs cost, or are expected to, on one day. */
  cost_per_day: cost.nullable(),
  cost_per_month: cost.nullable(),
}

/** What a rule is found by. */
export const QuotaName = z.strictObject(name)

export const QuotaRuleObject = z.strictObject({
  ...name,
  ...limits,
  action: QuotaAction,
  created_at: time,
  updated_at: time,
  /** Since when runs of before the rule count as well; null while transactions of before are being waited for. */
  counted_at: time.nullable(),
  links: z.strictObject({ self: z.string() }),
})

/** One limit that applies, how much of it is used, and by what. */
export const QuotaUsageObject = z.strictObject({
  /** Whose limit it is. */
  rule: QuotaName,
  limit: QuotaLimitName,
  maximum: z.number().min(0),
  used: z.number().min(0),
  /** Of all that apply to the same thing, the one that leaves least. */
  binds: z.boolean(),
  action: QuotaAction,
  sources: z.strictObject({
    /** Of a limit of runs: the runs that count. */
    runs: z.int().min(0).nullable(),
    /** Of a limit of runs: reservations that hold a place and are not used yet. */
    reservations: z.int().min(0).nullable(),
    /** Of a limit of cost: what runs that have not ended, and reservations, are expected to cost. */
    held: z.number().min(0).nullable(),
    /** Of a limit of cost: what the other runs did cost. */
    settled: z.number().min(0).nullable(),
  }),
})

/** The rule of exactly this name, and every limit that applies to it. */
export const QuotaObject = z.strictObject({
  ...name,
  ...limits,
  /** Null when there is no rule of this name: then only rules of everyone apply. */
  action: QuotaAction.nullable(),
  usage: z.array(QuotaUsageObject),
})

/** Replaces the rule: a limit that is not given is none. `block` when no action is given. */
export const QuotaBody = z.strictObject({
  max_concurrent: runs.nullish(),
  runs_per_hour: runs.nullish(),
  runs_per_day: runs.nullish(),
  cost_per_day: cost.nullish(),
  cost_per_month: cost.nullish(),
  action: QuotaAction.nullish(),
})

export const QuotaParams = z.strictObject({
  /** A name, or `*` for everyone. */
  owner: ownerName,
})

export const QuotaQuery = z.strictObject({
  /** The rule for runs of this model; without it the rule for all models. */
  model: z.string().regex(MODEL_NAME, MODEL_NAME_WANTED).optional(),
  /** Of everyone: the ceiling over all owners together. */
  together: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
})

export const QuotaListQuery = z.strictObject({
  ...pageQuery,
  /** Only rules of this owner. */
  owner: ownerName.optional(),
})

export const QuotaListAnswer = pageAnswer(QuotaRuleObject)

export type QuotaAction = z.infer<typeof QuotaAction>
export type QuotaLimitName = z.infer<typeof QuotaLimitName>
export type QuotaName = z.infer<typeof QuotaName>
export type QuotaRuleObject = z.infer<typeof QuotaRuleObject>
export type QuotaUsageObject = z.infer<typeof QuotaUsageObject>
export type QuotaObject = z.infer<typeof QuotaObject>
export type QuotaBody = z.infer<typeof QuotaBody>
export type QuotaQuery = z.infer<typeof QuotaQuery>
export type QuotaListAnswer = z.infer<typeof QuotaListAnswer>
