/**
 * From a schema to what a form shows for it, one level at a time: schemas may contain themselves. What has no good form is a JSON field, which
 * can say everything.
 */

import { plain, resolved, type Schema } from './schema.ts'
import { isObject } from './value-path.ts'

export type Property = { name: string; schema: unknown; isRequired: boolean }

export type Shape =
  | { kind: 'text'; format: string | null; isLong: boolean }
  | { kind: 'number'; isInteger: boolean }
  | { kind: 'boolean' }
  | { kind: 'choice'; options: { label: string; value: unknown }[] }
  | { kind: 'file' }
  | { kind: 'list'; items: unknown }
  | { kind: 'object'; properties: Property[] }
  | { kind: 'map'; values: unknown }
  | { kind: 'branches'; branches: { label: string; schema: Schema }[] }
  | { kind: 'json' }

/** Everything a field needs to know. */
export type Described = {
  shape: Shape
  title: string | null
  description: string | null
  /** Undefined when there is none. */
  default: unknown
  isNullable: boolean
  /** Limits in words: "1 to 600", "at most 40 characters". */
  hints: string[]
  schema: Schema
}

const LONG_TEXT = 200
const FILE_FORMAT = 'holdfast-file'

export function describe(schema: unknown, root: Schema): Described {
  const { schema: own, isNullable } = plain(schema, root)
  const shape = shapeOf(own, root)
  return {
    shape,
    title: textIn(own.title),
    description: textIn(own.description),
    default: own.default,
    isNullable,
    hints: hintsOf(own, shape),
    schema: own,
  }
}

function shapeOf(schema: Schema, root: Schema): Shape {
  const choices = choicesOf(schema, root)
  if (choices) return { kind: 'choice', options: choices }
  const branches = [schema.anyOf, schema.oneOf].find(Array.isArray)
  if (branches) return branchesOf(branches, schema, root)
  if (schema.format === FILE_FORMAT) return { kind: 'file' }
  switch (schema.type ?? impliedType(schema)) {
    case 'string':
      return { kind: 'text', format: textIn(schema.format), isLong: isLongText(schema) }
    case 'number':
      return { kind: 'number', isInteger: false }
    case 'integer':
      return { kind: 'number', isInteger: true }
    case 'boolean':
      return { kind: 'boolean' }
    case 'array':
      return isObject(schema.items) && !schema.prefixItems ? { kind: 'list', items: schema.items } : { kind: 'json' }
    case 'object':
      return objectOf(schema)
    default:
      return { kind: 'json' }
  }
}

function impliedType({ properties, items, minLength, maxLength, pattern }: Schema): string | undefined {
  if (properties !== undefined) return 'object'
  if (items !== undefined) return 'array'
  return (minLength ?? maxLength ?? pattern) === undefined ? undefined : 'string'
}

/** An enum, a constant, or branches that are all constants, which may have titles. */
function choicesOf(schema: Schema, root: Schema): { label: string; value: unknown }[] | null {
  if (Object.hasOwn(schema, 'const')) return [optionOf(schema.const, null)]
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => optionOf(value, null))
  const branches = [schema.anyOf, schema.oneOf].find(Array.isArray)?.map((branch) => resolved(branch, root))
  if (!branches || branches.length === 0 || !branches.every((branch) => Object.hasOwn(branch, 'const'))) return null
  return branches.map((branch) => optionOf(branch.const, textIn(branch.title)))
}

function optionOf(value: unknown, title: string | null): { label: string; value: unknown } {
  return { label: title ?? (typeof value === 'string' ? value : JSON.stringify(value)), value }
}

/** Properties of the whole belong to each branch. */
function branchesOf(branches: unknown[], schema: Schema, root: Schema): Shape {
  const { anyOf: _any, oneOf: _one, title: _title, description: _description, default: _default, ...around } = schema
  const named = branches.map((branch, index) => {
    const own = resolved(branch, root)
    return { label: branchLabel(own, root) ?? `Form ${index + 1}`, schema: resolved({ allOf: [around, own] }, root) }
  })
  const labels = named.map(({ label }) => label)
  return {
    kind: 'branches',
    branches: named.map(({ label, ...rest }, index) => {
      const isOne = labels.indexOf(label) === labels.lastIndexOf(label)
      return { ...rest, label: isOne ? label : `${label} (${index + 1})` }
    }),
  }
}

/** Its title, the constants that tell it from the others (`kind: "file"`), or its type. */
function branchLabel(branch: Schema, root: Schema): string | null {
  const title = textIn(branch.title)
  if (title) return title
  const properties = isObject(branch.properties) ? Object.entries(branch.properties) : []
  const constants = properties
    .map(([name, property]) => ({ name, own: resolved(property, root) }))
    .filter(({ own }) => Object.hasOwn(own, 'const'))
    .map(({ name, own }) => `${name}: ${typeof own.const === 'string' ? own.const : JSON.stringify(own.const)}`)
  if (constants.length > 0) return constants.join(', ')
  const { type, format } = branch
  if (type === 'object' && properties.length > 0) return `object with ${properties.map(([name]) => name).join(', ')}`
  return [type, format].filter((word) => typeof word === 'string').join(', ') || null
}

function objectOf(schema: Schema): Shape {
  const { properties, additionalProperties, required } = schema
  const names = isObject(properties) ? Object.keys(properties) : []
  if (names.length === 0) {
    return isObject(additionalProperties) ? { kind: 'map', values: additionalProperties } : { kind: 'json' }
  }
  const needed = Array.isArray(required) ? required.filter((name) => names.includes(name)) : []
  // The database does not keep the order of names: those that are needed come first, in the order that `required` has kept.
  const others = names.filter((name) => !needed.includes(name)).sort((a, b) => a.localeCompare(b, 'en'))
  const inOrder = [...needed, ...others]
  return {
    kind: 'object',
    properties: inOrder.map((name) => ({
      name,
      schema: (properties as Schema)[name],
      isRequired: needed.includes(name),
    })),
  }
}

function isLongText({ maxLength, contentMediaType }: Schema): boolean {
  return (typeof maxLength === 'number' && maxLength > LONG_TEXT) || contentMediaType !== undefined
}

const FORMATS: Record<string, string> = {
  date: 'a date, such as 2030-01-31',
  'date-time': 'a time with its zone, such as 2030-01-31T08:00:00Z',
  time: 'a time of day, such as 08:00:00Z',
  duration: 'a duration, such as PT15M',
  email: 'a mail address',
  uri: 'an address, such as https://example.org/',
  uuid: 'a UUID',
  [FILE_FORMAT]: 'the id of an uploaded file: 64 hexadecimal digits',
}

function hintsOf(schema: Schema, { kind }: Shape): string[] {
  const { format, pattern, multipleOf, uniqueItems } = schema
  const hints: (string | null)[] = []
  if (kind === 'number') {
    hints.push(rangeWords(schema))
    if (typeof multipleOf === 'number' && multipleOf !== 1) hints.push(`a multiple of ${multipleOf}`)
  }
  if (kind === 'text') hints.push(countWords(schema.minLength, schema.maxLength, 'character'))
  if (kind === 'list') hints.push(countWords(schema.minItems, schema.maxItems, 'item'))
  if (kind === 'list' && uniqueItems === true) hints.push('no two alike')
  if (kind === 'map') hints.push(countWords(schema.minProperties, schema.maxProperties, 'name'))
  if (typeof format === 'string' && kind !== 'number') hints.push(FORMATS[format] ?? format)
  else if (typeof pattern === 'string' && pattern.length <= 60) hints.push(`like /${pattern}/`)
  return hints.filter((hint) => hint !== null)
}

/** Bounds that only say "a safe integer" are not worth saying. */
function rangeWords({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): string | null {
  const isBound = (value: unknown): value is number =>
    typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
  const low = isBound(minimum) ? `${minimum}` : null
  const high = isBound(maximum) ? `${maximum}` : null
  if (low !== null && high !== null) return `${low} to ${high}`
  const words = [
    low !== null ? `at least ${low}` : isBound(exclusiveMinimum) ? `more than ${exclusiveMinimum}` : null,
    high !== null ? `at most ${high}` : isBound(exclusiveMaximum) ? `less than ${exclusiveMaximum}` : null,
  ]
  return words.filter(Boolean).join(', ') || null
}

function countWords(low: unknown, high: unknown, what: string): string | null {
  const some = (count: number) => `${count} ${what}${count === 1 ? '' : 's'}`
  if (typeof low === 'number' && low > 0 && typeof high === 'number') {
    return low === high ? some(low) : `${low} to ${some(high)}`
  }
  if (typeof low === 'number' && low > 0) return `at least ${some(low)}`
  return typeof high === 'number' ? `at most ${some(high)}` : null
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
