/**
 * Values that a schema suggests: the defaults that the service will fill in, what a new item of a list begins with, and which branch of several
 * a value is of.
 */

import { plain, resolved, type Schema } from './schema.ts'
import { describe } from './shape.ts'
import { isObject, isSameJson, type JsonObject } from './value-path.ts'

const DEPTH_MAX = 12

/** With the defaults that the service fills in: of properties and items, not inside of `anyOf` and `oneOf`. */
export function withDefaults(value: unknown, schema: unknown, root: Schema, depth = 0): unknown {
  if (!isObject(schema) || depth > DEPTH_MAX) return value
  let filled = value
  for (const part of partsOf(schema, root)) {
    if (isObject(filled) && isObject(part.properties)) {
      filled = withProperties(filled, part.properties, root, depth)
    } else if (Array.isArray(filled) && isObject(part.items) && !part.prefixItems) {
      filled = filled.map((item) => withDefaults(item, part.items, root, depth + 1))
    }
  }
  return filled
}

function withProperties(value: JsonObject, properties: JsonObject, root: Schema, depth: number): JsonObject {
  const filled = { ...value }
  for (const [name, property] of Object.entries(properties)) {
    const own = Object.hasOwn(filled, name) ? filled[name] : isObject(property) ? property.default : undefined
    if (own !== undefined) define(filled, name, withDefaults(own, property, root, depth + 1))
  }
  return filled
}

/** Assigning to `__proto__` would change the prototype instead of adding a member. */
function define(object: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
}

/** The schema itself and what it is put together from without a choice. */
function partsOf(schema: Schema, root: Schema, followed = 0): Schema[] {
  if (followed > DEPTH_MAX) return []
  const { $ref, allOf } = schema
  const target = typeof $ref === 'string' ? [resolved({ $ref }, root)] : []
  const inner = [...target, ...(Array.isArray(allOf) ? allOf.filter(isObject) : [])]
  return [...inner.flatMap((part) => partsOf(part, root, followed + 1)), schema]
}

/** Where someone begins who adds a value of this kind. */
export function blankOf(schema: unknown, root: Schema, depth = 0): unknown {
  const { shape, default: given, schema: own } = describe(schema, root)
  if (given !== undefined) return withDefaults(given, own, root)
  switch (shape.kind) {
    case 'choice':
      return shape.options[0]?.value ?? ''
    case 'boolean':
      return false
    case 'number':
      return typeof own.minimum === 'number' && own.minimum > 0 ? own.minimum : 0
    case 'list':
      return []
    case 'map':
      return {}
    case 'branches':
      return depth > DEPTH_MAX ? null : blankOf(shape.branches[0]?.schema, root, depth + 1)
    case 'object': {
      const constants = shape.properties.flatMap(({ name, schema: property }) => {
        const inner = resolved(property, root)
        return Object.hasOwn(inner, 'const') ? [[name, inner.const] as const] : []
      })
      return withDefaults(Object.fromEntries(constants), own, root)
    }
    case 'json':
      return own.type === 'array' ? [] : own.type === 'object' ? {} : null
    default:
      return ''
  }
}

/** The place of the first branch that the value may be of; -1 when it is of none. */
export function branchOf(value: unknown, branches: { schema: Schema }[], root: Schema): number {
  return branches.findIndex(({ schema }) => mayBe(value, schema, root))
}

/** By type, constants and the names that must be there: enough to tell branches apart, not to judge a value. */
export function mayBe(value: unknown, schema: unknown, root: Schema): boolean {
  const { schema: own, isNullable } = plain(schema, root)
  if (value === null && isNullable) return true
  if (Object.hasOwn(own, 'const')) return isSameJson(own.const, value)
  if (Array.isArray(own.enum)) return own.enum.some((each) => isSameJson(each, value))
  const branches = [own.anyOf, own.oneOf].find(Array.isArray)
  if (branches) return branches.some((branch) => mayBe(value, branch, root))
  const types = [own.type].flat().filter((type) => type !== undefined)
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return false
  return !isObject(value) || hasNames(value, own, root)
}

function hasNames(value: JsonObject, { properties, required }: Schema, root: Schema): boolean {
  if (!isObject(properties)) return true
  const constants = Object.entries(properties).filter(([, property]) =>
    Object.hasOwn(resolved(property, root), 'const'),
  )
  if (constants.length > 0) {
    return (
      constants.every(([name, property]) => !Object.hasOwn(value, name) || mayBe(value[name], property, root)) &&
      constants.some(([name]) => Object.hasOwn(value, name))
    )
  }
  const needed = Array.isArray(required) ? required : []
  return needed.length === 0 || needed.some((name) => Object.hasOwn(value, name)) || Object.keys(value).length === 0
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  if (type === 'null') return value === null
  return typeof value === type
}
