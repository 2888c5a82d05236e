/**
 * Conditions on what is kept beside a run: the facets and places of its result, and whether it is overdue. Each is a look-up by run id. They
 * are scalar subselects, which no planner turns into a join that reads the whole table.
 *
 * An area is also a way to find runs: through the index of points, for areas with few places in them.
 */

import { type Area, type Circle, coveringBoxes, EARTH_RADIUS_KM } from '../run/area.ts'
import type { Values } from './search-conditions.ts'

/** `is`: one of these, null for whatever. `not`: none of these. */
export type FacetGroup = { name: string; is: string[] | null; not: string[] }

/** From `name:value` to what is asked of each facet. */
export function facetGroups(is: readonly string[] | null, not: readonly string[]): FacetGroup[] {
  const groups = new Map<string, FacetGroup>()
  const groupOf = (facet: string): [FacetGroup, string] => {
    const colon = facet.indexOf(':')
    const name = facet.slice(0, colon)
    const group = groups.get(name) ?? { name, is: null, not: [] }
    groups.set(name, group)
    return [group, facet.slice(colon + 1)]
  }
  for (const facet of new Set(is ?? [])) {
    const [group, value] = groupOf(facet)
    group.is = [...(group.is ?? []), value]
  }
  for (const facet of new Set(not)) {
    const [group, value] = groupOf(facet)
    group.not.push(value)
  }
  return [...groups.values()]
}

/** `id` is the run's. */
export function facetConditions({ name, is, not }: FacetGroup, id: string, values: Values): string[] {
  const some = (
    wanted: string[],
  ) => `(SELECT true FROM run_facets f WHERE f.run_id = ${id} AND f.name = ${values.place(name, 'text')}
    AND f.value = ANY (${values.place(wanted, 'text[]')}) LIMIT 1)`
  const parts: string[] = []
  if (is !== null) parts.push(`${some(is)} IS NOT NULL`)
  if (not.length > 0) parts.push(`${some(not)} IS NULL`)
  return parts
}

export function areaCondition(area: Area, id: string, values: Values): string {
  return `(SELECT true FROM run_places p WHERE p.run_id = ${id} AND ${liesIn(area, 'p', values)} LIMIT 1) IS NOT NULL`
}

/** Needs the run itself, as `r`. */
export function overdueCondition(isOverdue: boolean): string {
  const since = `(SELECT since FROM run_overdue o WHERE o.run_id = r.id AND o.attempt = r.attempt_count LIMIT 1)`
  return isOverdue ? `${since} IS NOT NULL` : `(r.status <> 'RUNNING' OR ${since} IS NULL)`
}

/** A row of the block is there only while the run waits. */
export function blockCondition(reasons: readonly string[], id: string, values: Values): string {
  const wanted = values.place(reasons, 'text[]')
  return `(SELECT true FROM run_blocks b WHERE b.run_id = ${id} AND b.reason = ANY (${wanted}) LIMIT 1) IS NOT NULL`
}

/** Places near or in an area, in no order and at most so many: a run comes as often as it has places there. */
export function placesAround(area: Area, { limit, values }: { limit: number; values: Values }): string {
  const sources = coveringBoxes(area).map(({ south, west, north, east }) => {
    const corner = (longitude: number, latitude: number) =>
      `point(${values.place(longitude, 'float8')}, ${values.place(latitude, 'float8')})`
    return `(SELECT run_id AS id, created_at, latitude, longitude FROM run_places
      WHERE point(longitude, latitude) <@ box(${corner(west, south)}, ${corner(east, north)}) LIMIT ${limit})`
  })
  return sources.join(' UNION ALL ')
}

/** Runs with a place in an area, each once, of those around it. */
export function runsInArea(area: Area, options: { limit: number; values: Values }): string {
  return `SELECT DISTINCT id, created_at FROM (${placesAround(area, options)}) p WHERE ${liesIn(area, 'p', options.values)}`
}

function liesIn(area: Area, p: string, values: Values): string {
  if ('circle' in area) return `${kmFrom(area.circle, p, values)} <= ${values.place(area.circle.km, 'float8')}`
  const { south, west, north, east } = area.box
  const [first, last] = [values.place(west, 'float8'), values.place(east, 'float8')]
  const between = west <= east ? 'AND' : 'OR'
  return `(${p}.latitude BETWEEN ${values.place(south, 'float8')} AND ${values.place(north, 'float8')}
    AND (${p}.longitude >= ${first} ${between} ${p}.longitude <= ${last}))`
}

/** On a ball, by the haversine. */
function kmFrom({ latitude, longitude }: Circle, p: string, values: Values): string {
  const [lat, lon] = [values.place(latitude, 'float8'), values.place(longitude, 'float8')]
  return `${2 * EARTH_RADIUS_KM} * asin(least(1, sqrt(power(sin(radians(${p}.latitude - ${lat}) / 2), 2)
    + cos(radians(${lat})) * cos(radians(${p}.latitude)) * power(sin(radians(${p}.longitude - ${lon}) / 2), 2))))`
}
