/**
 * Reading a JSON Schema (draft 2020-12) as zod, TypeBox and Python libraries write it: references followed, `allOf` joined, null set apart.
 * Nothing is checked against it here; that is what the service does.
 */

import { isObject, type JsonObject } from './value-path.ts'

export type Schema = JsonObject

/** What a schema says of null is set apart from what it says of everything else. */
export type Plain = { schema: Schema; isNullable: boolean }

const FOLLOWED_MAX = 16
const ANYTHING: Schema = {}

/** A schema without `$ref` and `allOf` at its top. What stands beside a `$ref` wins over what it leads to. */
export function resolved(schema: unknown, root: Schema, followed = 0): Schema {
  if (!isObject(schema) || followed > FOLLOWED_MAX) return ANYTHING
  const { $ref, allOf, ...own } = schema
  const parts = [...(typeof $ref === 'string' ? [targetOf($ref, root)] : []), ...(Array.isArray(allOf) ? allOf : [])]
  if (parts.length === 0) return schema
  return [...parts.map((part) => resolved(part, root, followed + 1)), own].reduce(joined)
}

function joined(a: Schema, b: Schema): Schema {
  const both: Schema = { ...a, ...b }
  if (isObject(a.properties) && isObject(b.properties)) both.properties = { ...a.properties, ...b.properties }
  if (Array.isArray(a.required) && Array.isArray(b.required))
    both.required = [...new Set([...a.required, ...b.required])]
  return both
}

/** `#`, `#/$defs/x` and `#name`: only what lies in the same schema. */
function targetOf(ref: string, root: Schema): unknown {
  if (!ref.startsWith('#')) return undefined
  const fragment = decoded(ref.slice(1))
  if (fragment !== '' && !fragment.startsWith('/')) {
    const named = [root.$defs, root.definitions].flatMap((group) => (isObject(group) ? Object.values(group) : []))
    return named.find((each) => isObject(each) && each.$anchor === fragment)
  }
  let place: unknown = root
  for (const step of fragment.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(place)) place = place[Number(name)]
    else place = isObject(place) && Object.hasOwn(place, name) ? place[name] : undefined
  }
  return place
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** `anyOf` with null, a list of types with null, and an enum with null are all "this, or null". */
export function plain(schema: unknown, root: Schema): Plain {
  const whole = resolved(schema, root)
  for (const word of ['anyOf', 'oneOf'] as const) {
    const { [word]: branches, ...around } = whole
    if (!Array.isArray(branches)) continue
    const others = branches.filter((branch) => !isNull(resolved(branch, root)))
    if (others.length === branches.length && others.length > 1) continue
    const isNullable = others.length < branches.length
    if (others.length !== 1) return { schema: { ...around, [word]: others }, isNullable }
    const inner = plain(others[0], root)
    // A title or description beside the branches tells of the parameter; one inside tells of the kind.
    return { schema: { ...inner.schema, ...around }, isNullable: isNullable || inner.isNullable }
  }
  return withoutNull(whole)
}

function withoutNull(schema: Schema): Plain {
  const { type, enum: values } = schema
  const types = Array.isArray(type) ? type.filter((each) => each !== 'null') : type
  const isTyped = Array.isArray(type) && type.includes('null')
  const isListed = Array.isArray(values) && values.includes(null) && values.length > 1
  if (!isTyped && !isListed) return { schema, isNullable: false }
  return {
    schema: {
      ...schema,
      ...(isTyped && { type: Array.isArray(types) && types.length === 1 ? types[0] : types }),
      ...(isListed && { enum: values.filter((value) => value !== null) }),
    },
    isNullable: isTyped || isListed,
  }
}

function isNull({ type, const: only }: Schema): boolean {
  return type === 'null' || only === null
}
