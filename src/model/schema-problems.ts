/**
 * Why a JSON Schema cannot be that of a model's parameters, each reason with the pointer to its place.
 *
 * Stricter than the standard, which passes over a keyword or a format it does not know: there a typing mistake would be a check that
 * is never made. A default that its own schema refuses would refuse every run that relies on it.
 */

import { closest } from 'fastest-levenshtein'
import type { JsonSchema } from '../run/definition.ts'
import { jsonPointer } from '../run/json-pointer.ts'
import { misplacedFiles } from './misplaced-files.ts'
import { formatNames, type ParameterError, parameterCheckOf, schemaErrors } from './parameter-check.ts'
import { isObject, KEYWORDS, visitSchemas } from './schema-keywords.ts'

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'
const PROBLEMS_MAX = 50

/** None when the schema can be used. Pointers start at the schema. */
export function schemaProblems(schema: JsonSchema): ParameterError[] {
  const stated = [...rootProblems(schema), ...innerProblems(schema), ...misplacedFiles(schema)]
  if (stated.length > 0) return stated.slice(0, PROBLEMS_MAX)
  const invalid = schemaErrors(schema)
  if (invalid.length > 0) return invalid.slice(0, PROBLEMS_MAX)
  try {
    parameterCheckOf(schema)
  } catch (error) {
    return [{ pointer: '', detail: `cannot be compiled: ${(error as Error).message}` }]
  }
  return defaultProblems(schema)
}

function rootProblems(schema: JsonSchema): ParameterError[] {
  const { $schema, type } = schema
  const problems: ParameterError[] = []
  if ($schema !== undefined && String($schema).replace(/#$/, '') !== DRAFT) {
    problems.push({ pointer: '/$schema', detail: `must be ${DRAFT}, the only draft that is understood` })
  }
  if (type !== undefined && type !== 'object') problems.push({ pointer: '/type', detail: 'must be "object"' })
  return problems
}

function innerProblems(root: JsonSchema): ParameterError[] {
  const problems: ParameterError[] = []
  visitSchemas(root, (schema, path) => {
    const add = (keyword: string, detail: string) => problems.push({ pointer: jsonPointer([...path, keyword]), detail })
    for (const keyword of Object.keys(schema)) {
      if (KEYWORDS.includes(keyword) || keyword.startsWith('x-')) continue
      add(keyword, `is no keyword of JSON Schema; the nearest is ${closest(keyword.slice(0, 64), [...KEYWORDS])}`)
    }
    const { format, pattern, patternProperties, $ref, $dynamicRef } = schema
    if (typeof format === 'string' && !formatNames().includes(format)) {
      add('format', `${JSON.stringify(format)} is not checked here; the nearest is ${closest(format, formatNames())}`)
    }
    if (typeof pattern === 'string') for (const why of brokenPattern(pattern)) add('pattern', why)
    for (const name of Object.keys(isObject(patternProperties) ? patternProperties : {})) {
      for (const why of brokenPattern(name)) add('patternProperties', why)
    }
    if (typeof $ref === 'string' && !resolves(root, $ref))
      add('$ref', `${JSON.stringify($ref)} leads nowhere in this schema`)
    if ($dynamicRef !== undefined) add('$dynamicRef', 'is not supported; use $ref')
  })
  return problems
}

function brokenPattern(pattern: string): string[] {
  try {
    new RegExp(pattern, 'u')
    return []
  } catch (error) {
    return [`is no regular expression: ${(error as Error).message.replace(/^Invalid regular expression: /, '')}`]
  }
}

/** Only places within the schema: `#`, `#/$defs/x`, or `#name` for an anchor. */
function resolves(root: JsonSchema, ref: string): boolean {
  if (!ref.startsWith('#')) return false
  let fragment: string
  try {
    fragment = decodeURIComponent(ref.slice(1))
  } catch {
    return false
  }
  if (fragment !== '' && !fragment.startsWith('/')) return hasAnchor(root, fragment)
  const steps = fragment.split('/').slice(1)
  let place: unknown = root
  for (const step of steps) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, name)) return false
    place = (place as Record<string, unknown>)[name]
  }
  return isObject(place) || typeof place === 'boolean'
}

function hasAnchor(root: JsonSchema, name: string): boolean {
  let found = false
  visitSchemas(root, ({ $anchor, $dynamicAnchor }) => {
    found ||= $anchor === name || $dynamicAnchor === name
  })
  return found
}

function defaultProblems(schema: JsonSchema): ParameterError[] {
  const { properties, required: _required, ...rest } = schema
  if (!isObject(properties)) return []
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isObject(property) || property.default === undefined) return []
    const check = parameterCheckOf({ ...rest, properties })({ [name]: property.default })
    const own = check.ok
      ? []
      : check.errors.filter(({ pointer }) => `${pointer}/`.startsWith(`${jsonPointer([name])}/`))
    return own.map(({ pointer, detail }) => ({
      pointer: jsonPointer(['properties', name, 'default']) + pointer.slice(jsonPointer([name]).length),
      detail: `does not fit its own schema: ${detail}`,
    }))
  })
}
