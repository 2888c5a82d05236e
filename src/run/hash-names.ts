/**
 * The names a definition leaves out of hashes. A misspelt one would silently change the identity of every run, so what is left out of
 * the payload hash must be a parameter that the schema knows.
 */

import { closest } from 'fastest-levenshtein'
import type { JsonSchema } from './definition.ts'

/** Of the given names, those that are no parameter, each with the nearest that is. A schema that allows any name knows them all. */
export function notParameters(
  names: readonly string[],
  schema: JsonSchema,
): { index: number; name: string; nearest: string }[] {
  const known = Object.keys((schema.properties as object | undefined) ?? {})
  const open = typeof schema.additionalProperties === 'object' || schema.additionalProperties === true
  if (known.length === 0 || open) return []
  return names.flatMap((name, index) =>
    known.includes(name) ? [] : [{ index, name, nearest: closest(name.slice(0, 128), known) }],
  )
}

/** A name of the result, a dot reaching inside: `metrics.runtime_seconds`. */
export function isResultPath(path: string): boolean {
  return path.split('.').every((name) => name !== '')
}
