/**
 * The ways to go through runs in order of time, each along an index: by one column of run_search, by tag, by status or error
 * class of model_runs, by facet, by what blocked runs wait for, or, for the few runs whose title, id or error class begins with a text or that have a place in an
 * area, by sorting them. Going by all statuses is going through everything.
 *
 * Several values of one column are as many ordered streams, merged; a walk never reads more of them than it needs.
 */

import type { Area } from '../run/area.ts'
import { RUN_STATUSES } from '../run/status.ts'
import type { RunOrder } from './ports/search.ts'
import { COLUMNS, type Column, idsBeginningWith, type Narrowed, type Values } from './search-conditions.ts'
import type { Position } from './search-cursor.ts'
import { placesAround, runsInArea } from './search-found.ts'

type ColumnWalk = 'owner' | 'model' | 'queue' | 'batchId' | 'tag' | 'status' | 'errorClass' | 'waiting'
type OrderedWalk = ColumnWalk | `facet:${string}`
/** What these find is known whole before the first of it is shown, so all of it must be few. */
type SortedWalk = 'text' | `area:${number}`
export type WalkName = OrderedWalk | SortedWalk

/** From a position on, without it, to the end of the time that was asked for. */
export type Stretch = { order: RunOrder; from: Position; until: string }

/** `also`: what else leads to the rows, before the column in the index. */
type Table = {
  name: 'run_search' | 'run_tags' | 'run_facets' | 'run_blocks' | 'model_runs'
  id: 'run_id' | 'id'
  column: string
  also?: { column: string; value: string }
}

const TABLES: Record<ColumnWalk, Table> = {
  owner: { name: 'run_search', id: 'run_id', column: 'owner' },
  model: { name: 'run_search', id: 'run_id', column: 'model' },
  queue: { name: 'run_search', id: 'run_id', column: 'queue' },
  batchId: { name: 'run_search', id: 'run_id', column: 'batch_id' },
  tag: { name: 'run_tags', id: 'run_id', column: 'tag' },
  status: { name: 'model_runs', id: 'id', column: 'status' },
  errorClass: { name: 'model_runs', id: 'id', column: 'last_error_class' },
  waiting: { name: 'run_blocks', id: 'run_id', column: 'reason' },
}

const TYPES: Partial<Record<ColumnWalk, string>> = { batchId: 'uuid', status: 'run_status' }

export function isSorted(walk: WalkName): walk is SortedWalk {
  return walk === 'text' || walk.startsWith('area:')
}

function tableOf(walk: OrderedWalk): Table {
  if (!isFacet(walk)) return TABLES[walk]
  return { name: 'run_facets', id: 'run_id', column: 'value', also: { column: 'name', value: facetNameOf(walk) } }
}

function isFacet(walk: OrderedWalk): walk is `facet:${string}` {
  return walk.startsWith('facet:')
}

function facetNameOf(walk: `facet:${string}`): string {
  return walk.slice('facet:'.length)
}

/** The values that an ordered walk goes through, each a stream. */
export function wantedOf(walk: OrderedWalk, filter: Narrowed): readonly string[] {
  if (isFacet(walk)) return filter.facets.find(({ name }) => name === facetNameOf(walk))!.is!
  return filter[walk].is ?? RUN_STATUSES
}

/** What a sorted walk looks through, once for each run or place. */
export function matchesOf(walk: SortedWalk, filter: Narrowed, options: Pick<WalkOptions, 'limit' | 'values'>): string {
  return walk === 'text' ? textMatches(filter.text!, options) : placesAround(areaOf(walk, filter), options)
}

function areaOf(walk: `area:${number}`, { areas }: Narrowed): Area {
  return areas[Number(walk.slice('area:'.length))]!
}

/** What a walk reads of each run besides id and time. */
export function walkHas(walk: WalkName): (column: Column) => boolean {
  if (isSorted(walk) || isFacet(walk) || walk === 'tag' || walk === 'waiting') return () => false
  const absent: Column[] = TABLES[walk].name === 'run_search' ? ['status', 'errorClass'] : []
  return (column) => !absent.includes(column)
}

/** The walks that a filter allows, of which any finds all that fit. */
export function walksOf(filter: Narrowed): WalkName[] {
  const columns = Object.keys(TABLES) as ColumnWalk[]
  return [
    ...columns.filter((column) => filter[column].is !== null),
    ...filter.facets.filter(({ is }) => is !== null).map(({ name }) => `facet:${name}` as const),
    ...filter.areas.map((_, no) => `area:${no}` as const),
    ...(filter.text === null ? [] : (['text'] as const)),
  ]
}

export type WalkOptions = { columns: Column[]; limit: number; stretch: Stretch; values: Values }

/** A query of id, created_at and the columns asked for, in order, of at most so many runs. */
export function walkText(walk: WalkName, filter: Narrowed, options: WalkOptions): string {
  const { columns, limit, stretch, values } = options
  if (isSorted(walk)) {
    const matches = walk === 'text' ? textMatches(filter.text!, options) : runsInArea(areaOf(walk, filter), options)
    const bounds = boundsOf('id', stretch, values)
    return `SELECT * FROM (${matches}) matches WHERE ${bounds} ORDER BY ${orderOf(stretch)} LIMIT ${limit}`
  }
  const wanted = wantedOf(walk, filter)
  const table = tableOf(walk)
  const end = `ORDER BY ${orderOf(stretch)} LIMIT ${limit}`
  const bounds = boundsOf(table.id, stretch, values)
  const selected = [`${table.id} AS id`, 'created_at', ...columns.map((column) => selectedAs(column, table))].join(', ')
  // The index by status ends with the time: runs of one moment are put in order of their ids here, a few at a time.
  const streams = wanted.map((value) => {
    return `(SELECT ${selected} FROM ${table.name} WHERE ${valueIs(walk, value, values)} AND ${bounds} ${end})`
  })
  if (streams.length === 1) return streams[0]!
  // A run that has two of the wanted tags comes twice, once behind the other.
  const select = walk === 'tag' || isFacet(walk) ? 'SELECT DISTINCT' : 'SELECT'
  return `${select} * FROM (${streams.join(' UNION ALL ')}) streams ${end}`
}

/** A query of the times of at most so many runs with one value: what an index alone can answer. */
export function glanceText(walk: OrderedWalk, value: string, { limit, stretch, values }: WalkOptions): string {
  const { name } = tableOf(walk)
  const [first, last] = stretch.order === 'created_at_desc' ? ['<=', '>='] : ['>=', '<=']
  return `SELECT created_at FROM ${name} WHERE ${valueIs(walk, value, values)}
    AND created_at ${first} ${values.place(stretch.from.at, 'timestamptz')}
    AND created_at ${last} ${values.place(stretch.until, 'timestamptz')}
    ORDER BY created_at ${stretch.order === 'created_at_desc' ? 'DESC' : ''} LIMIT ${limit}`
}

function valueIs(walk: OrderedWalk, value: string, values: Values): string {
  const { column, also } = tableOf(walk)
  const type = isFacet(walk) ? 'text' : (TYPES[walk] ?? 'text')
  const isValue = `${column} = ${values.place(value, type)}`
  return also ? `${also.column} = ${values.place(also.value, 'text')} AND ${isValue}` : isValue
}

function selectedAs(column: Column, table: Table): string {
  const { name } = COLUMNS[column]
  return column === 'title' && table.name === 'model_runs' ? 'fold_case(title) AS title' : name
}

function orderOf({ order }: Stretch): string {
  return order === 'created_at_desc' ? 'created_at DESC, id DESC' : 'created_at, id'
}

/** The comparison of the time alone is for indexes that end with it. */
function boundsOf(id: string, { order, from, until }: Stretch, values: Values): string {
  const at = values.place(from.at, 'timestamptz')
  const last = values.place(from.id, 'uuid')
  const end = values.place(until, 'timestamptz')
  return order === 'created_at_desc'
    ? `created_at <= ${at} AND (created_at, ${id}) < (${at}, ${last}) AND created_at >= ${end}`
    : `created_at >= ${at} AND (created_at, ${id}) > (${at}, ${last}) AND created_at < ${end}`
}

const LAST_CHARACTER = `chr(1114111)`

/**
 * Runs whose title, id or error class begins with the text, at most so many of each and in no order. The time plays no part:
 * an index that begins with the text would be read to its end for a time when there were none.
 */
export function textMatches(text: string, { limit, values }: Pick<WalkOptions, 'limit' | 'values'>): string {
  const given = values.place(text, 'text')
  const sources = [
    `(SELECT run_id AS id, created_at FROM run_search
      WHERE title IS NOT NULL AND title ~>=~ fold_case(${given}) AND title ~<~ (fold_case(${given}) || ${LAST_CHARACTER})
      LIMIT ${limit})`,
    `(SELECT id, created_at FROM model_runs
      WHERE last_error_class IS NOT NULL AND last_error_class ~>=~ ${given}
        AND last_error_class ~<~ (${given} || ${LAST_CHARACTER})
      LIMIT ${limit})`,
  ]
  const range = idsBeginningWith(text)
  if (range) {
    const [first, last] = [values.place(range.first, 'uuid'), values.place(range.last, 'uuid')]
    sources.push(`(SELECT id, created_at FROM model_runs WHERE id BETWEEN ${first} AND ${last} LIMIT ${limit})`)
  }
  return `SELECT DISTINCT id, created_at FROM (${sources.join(' UNION ALL ')}) sources`
}
