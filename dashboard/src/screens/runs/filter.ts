/**
 * The filter of the list, as the address says it: the names and the notation of `GET /runs`, where a name is repeated or holds several
 * values with commas between, and a comma inside a value is written `\,`. Pure.
 *
 * What the service does not know is passed on all the same: it is the one to say what is wrong with it.
 */

import type { RunFilter, ShownFilter } from '@holdfast/client'
import type { Search } from '../../search.ts'
import { textIn, textsIn } from '../../search.ts'

/** Names with several values; each but `waiting` also with `not_`. */
export const LIST_NAMES = [
  'status',
  'model',
  'model_version',
  'owner',
  'queue',
  'tag',
  'error_class',
  'batch_id',
  'facet',
  'waiting',
] as const
/** Names with one value, which is taken as it is. */
const TEXT_NAMES = ['text', 'not_text', 'created_after', 'created_before', 'near', 'bbox', 'overdue'] as const

export type FilterName =
  | (typeof LIST_NAMES)[number]
  | 'text'
  | 'created_after'
  | 'created_before'
  | 'overdue'
  | 'near'
  | 'bbox'

/** One part of a filter: a chip. */
export type Condition = { name: FilterName; isNot: boolean; value: string }

const NEGATABLE = new Set<FilterName>([...LIST_NAMES.filter((name) => name !== 'waiting'), 'text', 'overdue'])

export function isNegatable(name: FilterName): boolean {
  return NEGATABLE.has(name)
}

export function conditionsIn(search: Search): Condition[] {
  const listed = LIST_NAMES.flatMap((name) =>
    [false, true].flatMap((isNot) =>
      unique(textsIn(search, isNot ? `not_${name}` : name).flatMap(betweenCommas)).map((value) => ({
        name,
        isNot,
        value,
      })),
    ),
  )
  const single = TEXT_NAMES.flatMap((name) => {
    const value = textIn(search, name)
    if (value === undefined || value === '') return []
    if (name === 'overdue' && (value === 'true' || value === 'false')) {
      return [{ name, isNot: value === 'false', value: 'true' } satisfies Condition]
    }
    return [{ name: name.replace('not_', '') as FilterName, isNot: name === 'not_text', value }]
  })
  return [...listed, ...single]
}

/** What these conditions are in an address; other names of it are not part of the answer. */
export function searchOf(conditions: readonly Condition[]): Search {
  const search: Record<string, string[]> = {}
  for (const { name, isNot, value } of conditions) {
    if (name === 'overdue') search.overdue = [value === 'true' ? String(!isNot) : value]
    else {
      const key = isNot ? `not_${name}` : name
      const isListed = (LIST_NAMES as readonly string[]).includes(name)
      const text = isListed ? value.replaceAll(',', '\\,') : value
      search[key] = isListed ? unique([...(search[key] ?? []), text]) : [text]
    }
  }
  return Object.fromEntries(
    Object.entries(search).map(([key, values]) => [key, values.length === 1 ? values[0] : values]),
  )
}

/** As the client takes it. */
export function filterOf(conditions: readonly Condition[]): RunFilter {
  const filter: Record<string, string | string[] | boolean> = {}
  for (const { name, isNot, value } of conditions) {
    const key = isNot && name !== 'overdue' ? `not_${name}` : name
    if (name === 'overdue') filter[key] = value === 'true' ? !isNot : value
    else if ((LIST_NAMES as readonly string[]).includes(name)) {
      filter[key] = [...((filter[key] as string[] | undefined) ?? []), value]
    } else filter[key] = value
  }
  return filter as RunFilter
}

/** Of a saved view or a bulk operation. */
export function conditionsOf(filter: ShownFilter): Condition[] {
  return Object.entries(filter).flatMap(([key, value]): Condition[] => {
    const isNot = key.startsWith('not_')
    const name = (isNot ? key.slice(4) : key) as FilterName
    if (name === 'overdue') return [{ name, isNot: value === false, value: 'true' }] satisfies Condition[]
    return [value].flat().map((one): Condition => ({ name, isNot, value: String(one) }))
  })
}

/** With one more; what has a single value gets this one. */
export function withCondition(conditions: readonly Condition[], added: Condition): Condition[] {
  const isListed = (LIST_NAMES as readonly string[]).includes(added.name)
  const kept = conditions.filter(
    (one) => !isSame(one, added) && (isListed || one.name !== added.name || isText(one, added)),
  )
  return [...kept, added]
}

export function withoutCondition(conditions: readonly Condition[], removed: Condition): Condition[] {
  return conditions.filter((one) => !isSame(one, removed))
}

/** Whether there is a contrary of it. */
export function canTurn({ name }: Condition): boolean {
  return isNegatable(name) || isTime(name)
}

/** Is becomes is not, since becomes before, and back. A time has one contrary, so the other end of a stretch goes. */
export function toggled(conditions: readonly Condition[], condition: Condition): Condition[] {
  const kept = conditions.filter((one) => isSame(one, condition) || !isTime(one.name) || !isTime(condition.name))
  return kept.map((one) => (isSame(one, condition) ? contraryOf(one) : one))
}

function contraryOf(condition: Condition): Condition {
  if (condition.name === 'created_after') return { ...condition, name: 'created_before' }
  if (condition.name === 'created_before') return { ...condition, name: 'created_after' }
  return { ...condition, isNot: !condition.isNot }
}

function isTime(name: FilterName): boolean {
  return name === 'created_after' || name === 'created_before'
}

/** The one status that is asked for: null for all of them, undefined when it is anything else. */
export function onlyStatus(conditions: readonly Condition[]): string | null | undefined {
  const asked = conditions.filter(({ name }) => name === 'status')
  if (asked.length === 0) return null
  return asked.length === 1 && !asked[0]!.isNot ? asked[0]!.value : undefined
}

function isSame(one: Condition, other: Condition): boolean {
  return one.name === other.name && one.isNot === other.isNot && one.value === other.value
}

/** A text to begin with and one not to begin with go together. */
function isText(one: Condition, other: Condition): boolean {
  return one.name === 'text' && one.isNot !== other.isNot
}

function betweenCommas(given: string): string[] {
  return given
    .split(/(?<!\\),/)
    .map((value) => value.replaceAll('\\,', ','))
    .filter((value) => value !== '')
}

function unique(values: string[]): string[] {
  return [...new Set(values)]
}
