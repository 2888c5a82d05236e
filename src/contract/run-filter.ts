/**
 * The filter of `GET /runs`, in two forms with the same names and the same output: as a query, where a name is repeated or
 * holds several values with commas between (a comma inside a value is written `\,`), and as JSON, where it is a value or a
 * list of them, as in `POST /bulk` and in saved views.
 *
 * Several values of one name mean any of them, different names all of them; `not_…` means none of its values.
 */

import { z } from 'zod'
import { BOX_WANTED, boxOf, circleOf, NEAR_WANTED } from '../run/area.ts'
import { FACET_NAME, FACET_VALUE_LENGTH_MAX } from '../run/facets.ts'
import { RunStatusName } from './run.ts'
import { TAG_LENGTH_MAX, TITLE_LENGTH_MAX } from './submit.ts'

export const FILTER_VALUES_MAX = 20

/** What a run may wait for other than time and workers. */
const BlockReasonName = z.enum(['approval', 'concurrency'])

const TIME_WANTED = 'must be an ISO 8601 time with a zone, such as 2030-01-31T08:00:00Z'

const text = (length: number) =>
  z.string().min(1).max(length).refine(isPlain, 'must not contain a NUL or half a character')
/** In UTC and with microseconds afterwards, whatever zone it was given in. */
const time = z.iso
  .datetime({ offset: true, error: TIME_WANTED })
  .refine((given) => inUtc(given) !== null, TIME_WANTED)
  .transform((given) => inUtc(given)!)

const VALUES = {
  status: RunStatusName,
  model: text(128),
  model_version: text(64),
  owner: text(255),
  queue: text(128),
  tag: text(TAG_LENGTH_MAX),
  batch_id: z.guid(),
  error_class: text(255),
  facet: text(65 + FACET_VALUE_LENGTH_MAX).refine(isFacet, 'must be name:value, such as language:fr'),
  waiting: BlockReasonName,
}

const near = z.string().refine((given) => circleOf(given) !== null, NEAR_WANTED)
const bbox = z.string().refine((given) => boxOf(given) !== null, BOX_WANTED)

const several = <Value extends z.ZodType<string, string>>(value: Value) => z.array(value).min(1).max(FILTER_VALUES_MAX)

const inQuery = <Value extends z.ZodType<string, string>>(value: Value) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat().flatMap(betweenCommas))
    .pipe(several(value))
    .optional()

const inJson = <Value extends z.ZodType<string, string>>(value: Value) =>
  z
    .union([value, several(value)])
    .transform((given): z.output<Value>[] => [given].flat() as z.output<Value>[])
    .nullish()

const shown = <Value extends z.ZodType<string, string>>(value: Value) => several(value).optional()

export const RunFilterQuery = z.strictObject({
  status: inQuery(VALUES.status),
  not_status: inQuery(VALUES.status),
  model: inQuery(VALUES.model),
  not_model: inQuery(VALUES.model),
  model_version: inQuery(VALUES.model_version),
  not_model_version: inQuery(VALUES.model_version),
  owner: inQuery(VALUES.owner),
  not_owner: inQuery(VALUES.owner),
  queue: inQuery(VALUES.queue),
  not_queue: inQuery(VALUES.queue),
  tag: inQuery(VALUES.tag),
  not_tag: inQuery(VALUES.tag),
  batch_id: inQuery(VALUES.batch_id),
  not_batch_id: inQuery(VALUES.batch_id),
  error_class: inQuery(VALUES.error_class),
  not_error_class: inQuery(VALUES.error_class),
  /** At that moment or later. */
  created_after: time.optional(),
  /** Before that moment. */
  created_before: time.optional(),
  /** The beginning of the title (whatever its case), of the run id or of the error class. */
  text: text(TITLE_LENGTH_MAX).optional(),
  not_text: text(TITLE_LENGTH_MAX).optional(),
  /** `name:value` of the result. Values of one facet mean any of them, different facets all of them. */
  facet: inQuery(VALUES.facet),
  not_facet: inQuery(VALUES.facet),
  /** `latitude,longitude,km`: the result has a place that near. */
  near: near.optional(),
  /** `south,west,north,east`: the result has a place in there. A west above the east crosses 180 degrees. */
  bbox: bbox.optional(),
  /** `true`: running for more than three times the expected duration. */
  overdue: z
    .enum(['true', 'false'])
    .transform((given) => given === 'true')
    .optional(),
  /** What blocked runs wait for. */
  waiting: inQuery(VALUES.waiting),
})

export const RunFilterJson = z.strictObject({
  status: inJson(VALUES.status),
  not_status: inJson(VALUES.status),
  model: inJson(VALUES.model),
  not_model: inJson(VALUES.model),
  model_version: inJson(VALUES.model_version),
  not_model_version: inJson(VALUES.model_version),
  owner: inJson(VALUES.owner),
  not_owner: inJson(VALUES.owner),
  queue: inJson(VALUES.queue),
  not_queue: inJson(VALUES.queue),
  tag: inJson(VALUES.tag),
  not_tag: inJson(VALUES.tag),
  batch_id: inJson(VALUES.batch_id),
  not_batch_id: inJson(VALUES.batch_id),
  error_class: inJson(VALUES.error_class),
  not_error_class: inJson(VALUES.error_class),
  created_after: time.nullish(),
  created_before: time.nullish(),
  text: text(TITLE_LENGTH_MAX).nullish(),
  not_text: text(TITLE_LENGTH_MAX).nullish(),
  facet: inJson(VALUES.facet),
  not_facet: inJson(VALUES.facet),
  near: near.nullish(),
  bbox: bbox.nullish(),
  overdue: z.boolean().nullish(),
  waiting: inJson(VALUES.waiting),
})

/** As answers show a filter: only what it asks for, and in a form that every request takes. */
export const RunFilterObject = z.strictObject({
  status: shown(VALUES.status),
  not_status: shown(VALUES.status),
  model: shown(VALUES.model),
  not_model: shown(VALUES.model),
  model_version: shown(VALUES.model_version),
  not_model_version: shown(VALUES.model_version),
  owner: shown(VALUES.owner),
  not_owner: shown(VALUES.owner),
  queue: shown(VALUES.queue),
  not_queue: shown(VALUES.queue),
  tag: shown(VALUES.tag),
  not_tag: shown(VALUES.tag),
  batch_id: shown(VALUES.batch_id),
  not_batch_id: shown(VALUES.batch_id),
  error_class: shown(VALUES.error_class),
  not_error_class: shown(VALUES.error_class),
  created_after: z.string().optional(),
  created_before: z.string().optional(),
  text: z.string().optional(),
  not_text: z.string().optional(),
  facet: shown(VALUES.facet),
  not_facet: shown(VALUES.facet),
  near: z.string().optional(),
  bbox: z.string().optional(),
  overdue: z.boolean().optional(),
  waiting: shown(VALUES.waiting),
})

export type RunFilterObject = z.infer<typeof RunFilterObject>

/** What both forms are after they were checked. */
export type RunFilterValues = z.output<typeof RunFilterQuery> | z.output<typeof RunFilterJson>

function betweenCommas(given: string): string[] {
  return given.split(/(?<!\\),/).map((value) => value.replaceAll('\\,', ','))
}

/** Null for a moment that has no such form, such as one that its zone moves out of the years 1 to 9999. */
function inUtc(given: string): string | null {
  const date = new Date(given)
  if (Number.isNaN(date.getTime()) || date.getTime() < Date.parse('0001-01-01T00:00:00Z')) return null
  const micros = (/\.(\d+)/.exec(given)?.[1] ?? '').padEnd(6, '0').slice(0, 6)
  const iso = date.toISOString()
  return /^\d{4}-/.test(iso) ? iso.replace(/\.\d+Z$/, `.${micros}Z`) : null
}

function isFacet(given: string): boolean {
  const colon = given.indexOf(':')
  return FACET_NAME.test(given.slice(0, Math.max(colon, 0))) && colon < given.length - 1
}

/** Postgres has no place for either in a text. */
function isPlain(value: string): boolean {
  return !value.includes('\u0000') && value.isWellFormed()
}
