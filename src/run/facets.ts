/**
 * What a result can be searched by. A model names facets, each with a path into its result, and a path to places on the map; this reads
 * them from the result of a success.
 *
 * A dot in a path reaches inside, and every array on the way gives the values of each of its items (an array in an array gives none). Texts,
 * numbers and booleans are values. Whatever else is found there, or is too long or too much, is left out: it never fails a run.
 */

import type { ModelDefinition } from './definition.ts'
import { isResultPath } from './hash-names.ts'

export type Facet = { name: string; value: string }
export type Place = { latitude: number; longitude: number; label: string | null; fileId: string | null }
export type Found = { facets: Facet[]; places: Place[] }

export const FACET_NAME = /^[a-z][a-z0-9_]{0,63}$/
export const FACET_NAME_WANTED = 'a lower-case letter, then up to 63 lower-case letters, digits or underscores'
export const FACETS_MAX = 16
export const FACET_VALUE_LENGTH_MAX = 200
/** Of one run, over all its facets. */
export const FACET_VALUES_MAX = 64
export const PLACES_MAX = 256
export const PLACE_LABEL_LENGTH_MAX = 200

const FILE_ID = /^[0-9a-f]{64}$/

/** Null when the model names nothing or the result has nothing of it, as most have. */
export function foundIn(resultText: string, declared: Pick<ModelDefinition, 'facets' | 'places'>): Found | null {
  // Nearly always, and on the way of every success.
  if (declared.facets === undefined && declared.places === undefined) return null
  const names = Object.entries(declared.facets ?? {})
  if (names.length === 0 && declared.places === undefined) return null
  const result: unknown = JSON.parse(resultText)
  const facets = inTurns(names.map(([name, path]) => facetsOf(name, valuesAt(result, path))))
  const places = declared.places === undefined ? [] : placesOf(valuesAt(result, declared.places))
  return facets.length === 0 && places.length === 0 ? null : { facets, places }
}

/** What is wrong with what a definition declares, each with the name of the facet or null for the whole. */
export function facetProblems(facets: unknown): { name: string | null; detail: string }[] {
  if (facets === undefined) return []
  if (typeof facets !== 'object' || facets === null || Array.isArray(facets)) {
    return [{ name: null, detail: 'must be an object of names, each with a path into the result' }]
  }
  const entries = Object.entries(facets)
  const problems: { name: string | null; detail: string }[] = []
  if (entries.length > FACETS_MAX) problems.push({ name: null, detail: `may have at most ${FACETS_MAX} names` })
  for (const [name, path] of entries) {
    if (!FACET_NAME.test(name)) problems.push({ name, detail: `must be named by ${FACET_NAME_WANTED}` })
    if (!isPath(path)) problems.push({ name, detail: PATH_WANTED })
  }
  return problems
}

export const PATH_WANTED = 'must be names of the result between dots: statistics.language'

export function isPath(path: unknown): path is string {
  return typeof path === 'string' && path.length <= 1_000 && isResultPath(path)
}

/** A name that holds a dot itself is found too: at each object the whole rest of the path is tried before its first part. */
function valuesAt(value: unknown, path: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => (Array.isArray(item) ? [] : valuesAt(item, path)))
  if (typeof value !== 'object' || value === null) return []
  const here = value as Record<string, unknown>
  if (Object.hasOwn(here, path)) return Array.isArray(here[path]) ? here[path] : [here[path]]
  const dot = path.indexOf('.')
  const first = path.slice(0, dot)
  return dot !== -1 && Object.hasOwn(here, first) ? valuesAt(here[first], path.slice(dot + 1)) : []
}

function facetsOf(name: string, values: unknown[]): Facet[] {
  const found = new Set<string>()
  for (const value of values) {
    const text = textOf(value)
    if (text !== null) found.add(text)
    if (found.size === FACET_VALUES_MAX) break
  }
  return [...found].map((value) => ({ name, value }))
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string' || value === '' || value.length > FACET_VALUE_LENGTH_MAX) return null
  return isStorable(value) ? value : null
}

/** Postgres has no place for the others in a text. */
function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}

/** The first of each, then the second of each: a facet with many values does not crowd out the others. */
function inTurns(lists: Facet[][]): Facet[] {
  const turns = Math.max(0, ...lists.map((list) => list.length))
  const taken: Facet[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    for (const list of lists) if (turn < list.length) taken.push(list[turn]!)
  }
  return taken.slice(0, FACET_VALUES_MAX)
}

function placesOf(values: unknown[]): Place[] {
  const places: Place[] = []
  for (const value of values) {
    const place = placeOf(value)
    if (place) places.push(place)
    if (places.length === PLACES_MAX) break
  }
  return places
}

function placeOf(value: unknown): Place | null {
  if (typeof value !== 'object' || value === null) return null
  const { latitude, longitude, label, file_id: fileId } = value as Record<string, unknown>
  if (!isWithin(latitude, 90) || !isWithin(longitude, 180)) return null
  return {
    latitude,
    longitude,
    label: labelOf(label),
    fileId: typeof fileId === 'string' && FILE_ID.test(fileId) ? fileId : null,
  }
}

/** A label is only shown, so a long one is cut, never within a character. */
function labelOf(label: unknown): string | null {
  if (typeof label !== 'string' || label === '' || !isStorable(label)) return null
  const cut = label.slice(0, PLACE_LABEL_LENGTH_MAX)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}

function isWithin(value: unknown, most: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= most
}
