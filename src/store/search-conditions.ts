/**
 * A filter as conditions of SQL, each on a column of what a walk has read already or else of the run itself.
 *
 * Only the conditions that were asked for are written. Values travel as parameters, never as text.
 */

import { RUN_STATUSES } from '../run/status.ts'
import type { Match, RunFilter } from './ports/search.ts'
import {
  areaCondition,
  blockCondition,
  type FacetGroup,
  facetConditions,
  facetGroups,
  overdueCondition,
} from './search-found.ts'
import type { WalkName } from './search-walks.ts'

/** Collects the values of a statement and hands out their places. */
export class Values {
  readonly list: unknown[] = []

  place(value: unknown, type: string): string {
    this.list.push(value)
    return `$${this.list.length}::${type}`
  }
}

export type Field = 'status' | 'model' | 'modelVersion' | 'owner' | 'queue' | 'tag' | 'batchId' | 'errorClass'
export type Column = Field | 'title'

/** How a column is called in model_runs, its type, and whether it may be null. */
export const COLUMNS: Record<Column, { name: string; type: string; nullable?: boolean }> = {
  status: { name: 'status', type: 'run_status' },
  model: { name: 'model', type: 'text' },
  modelVersion: { name: 'model_version', type: 'text' },
  owner: { name: 'owner', type: 'text' },
  queue: { name: 'queue', type: 'text' },
  tag: { name: 'tags', type: 'text', nullable: true },
  batchId: { name: 'batch_id', type: 'uuid', nullable: true },
  errorClass: { name: 'last_error_class', type: 'text', nullable: true },
  title: { name: 'title', type: 'text', nullable: true },
}

const FIELDS: Field[] = ['status', 'model', 'modelVersion', 'owner', 'queue', 'tag', 'batchId', 'errorClass']

export type Narrowed = Record<Field, Match> &
  Pick<RunFilter, 'createdAfter' | 'createdBefore' | 'text' | 'notText' | 'areas' | 'overdue' | 'waiting'> & {
    facets: FacetGroup[]
  }

/**
 * The same filter with `sees` as one more owner filter, without values that are asked for and excluded at once, and with what
 * a status may not be said as what it may be. Only RUNNING runs are overdue. Null when nothing can fit.
 */
export function narrow({ sees, facet, ...filter }: RunFilter): Narrowed | null {
  const narrowed: Narrowed = { ...filter, facets: facetGroups(facet.is, facet.not) }
  if (sees !== null)
    narrowed.owner = { is: filter.owner.is?.filter((owner) => owner === sees) ?? [sees], not: filter.owner.not }
  if (filter.status.not.length > 0) narrowed.status = { is: filter.status.is ?? RUN_STATUSES, not: filter.status.not }
  if (filter.overdue === true) {
    const { is, not } = narrowed.status
    narrowed.status = { is: is === null || is.includes('RUNNING') ? ['RUNNING'] : [], not }
  }
  for (const field of FIELDS) {
    const { is, not } = narrowed[field]
    if (is === null) continue
    const left = [...new Set(is)].filter((value) => !not.includes(value))
    if (left.length === 0) return null
    // A run may have a wanted tag and an unwanted one.
    narrowed[field] = { is: left, not: field === 'tag' ? not : [] }
  }
  if (narrowed.status.is?.length === RUN_STATUSES.length) narrowed.status = { is: null, not: [] }
  return narrowed
}

/** Where a walk has a column already: `s` is what it reads, `r` the run itself. */
export type Has = (column: Column) => boolean

/** The columns of a walk's own rows that conditions need. */
export function columnsNeeded(filter: Narrowed): Column[] {
  const needed: Column[] = FIELDS.filter((field) => filter[field].is !== null || filter[field].not.length > 0)
  return filter.text === null && filter.notText === null
    ? needed
    : [...new Set<Column>([...needed, 'title', 'errorClass'])]
}

/** `without`: what the walk itself makes sure of. */
export function conditionsOf(
  filter: Narrowed,
  values: Values,
  has: Has,
  without: WalkName | null,
): { text: string; needsRun: boolean } {
  const parts: string[] = []
  const from = (column: Column) => (has(column) ? `s.${COLUMNS[column].name}` : `r.${COLUMNS[column].name}`)
  for (const field of FIELDS)
    parts.push(...matchOf(field, from(field), withoutIs(filter[field], field === without), values))
  const beginning = (text: string) => {
    const title = has('title') ? from('title') : `fold_case(${from('title')})`
    return beginsWith(text, { title, id: 's.id', errorClass: from('errorClass') }, values)
  }
  if (filter.text !== null && without !== 'text') parts.push(beginning(filter.text))
  if (filter.notText !== null) parts.push(`NOT ${beginning(filter.notText)}`)
  for (const group of filter.facets) {
    const isKnown = without === `facet:${group.name}`
    parts.push(...facetConditions(isKnown ? { ...group, is: null } : group, 's.id', values))
  }
  for (const [no, area] of filter.areas.entries()) {
    if (without !== `area:${no}`) parts.push(areaCondition(area, 's.id', values))
  }
  if (filter.overdue !== null) parts.push(overdueCondition(filter.overdue))
  if (filter.waiting.is !== null && without !== 'waiting') parts.push(blockCondition(filter.waiting.is, 's.id', values))
  const text = parts.length === 0 ? 'true' : parts.join(' AND ')
  return { text, needsRun: /\br\./.test(text) }
}

function withoutIs(match: Match, isKnown: boolean): Match {
  return isKnown ? { is: null, not: match.not } : match
}

function matchOf(field: Field, column: string, { is, not }: Match, values: Values): string[] {
  const { type, nullable } = COLUMNS[field]
  const parts: string[] = []
  if (field === 'tag') {
    if (is !== null) parts.push(`${column} && ${values.place(is, 'text[]')}`)
    if (not.length > 0) parts.push(`COALESCE(NOT ${column} && ${values.place(not, 'text[]')}, true)`)
    return parts
  }
  if (is !== null) parts.push(`${column} = ANY (${values.place(is, `${type}[]`)})`)
  if (not.length > 0) {
    const differs = `${column} <> ALL (${values.place(not, `${type}[]`)})`
    parts.push(nullable ? `COALESCE(${differs}, true)` : differs)
  }
  return parts
}

/** `title` is without case. */
function beginsWith(
  text: string,
  { title, id, errorClass }: { title: string; id: string; errorClass: string },
  values: Values,
): string {
  const given = values.place(text, 'text')
  const parts = [
    `COALESCE(starts_with(${title}, fold_case(${given})), false)`,
    `COALESCE(starts_with(${errorClass}, ${given}), false)`,
  ]
  const range = idsBeginningWith(text)
  if (range) parts.push(`${id} BETWEEN ${values.place(range.first, 'uuid')} AND ${values.place(range.last, 'uuid')}`)
  return `(${parts.join(' OR ')})`
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The first and the last id that begin like this, or null when none can. */
export function idsBeginningWith(text: string): { first: string; last: string } | null {
  const start = text.toLowerCase()
  const first = start + '00000000-0000-0000-0000-000000000000'.slice(start.length)
  const last = start + 'ffffffff-ffff-ffff-ffff-ffffffffffff'.slice(start.length)
  return UUID.test(first) ? { first, last } : null
}
