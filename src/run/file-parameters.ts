/**
 * Which parameters of a model are files: a top-level property, or the items of a top-level array, whose JSON Schema has the format
 * `holdfast-file`. The value is the file's id, the SHA-256 of its bytes in hex.
 *
 * The format is looked for through `$ref` within the schema and through `anyOf`, `oneOf` and `allOf`, since that is how optional and nullable
 * values are stated. What the schema says is worked out once per schema object.
 */

import type { JsonSchema, ModelDefinition } from './definition.ts'
import { jsonPointer } from './json-pointer.ts'

export const FILE_FORMAT = 'holdfast-file'
export const FILE_ID = /^[0-9a-f]{64}$/

export type FileParameter = { name: string; isList: boolean }

/** `parameter` is the JSON pointer to the id within the parameters, such as /document or /pages/2. */
export type FileAmong = { parameter: string; fileId: string }

const REFS_MAX = 16
const NONE: FileParameter[] = []
const known = new WeakMap<JsonSchema, FileParameter[]>()

/** By name: schemas come back from the database in another order. */
export function fileParametersOf(schema: JsonSchema): FileParameter[] {
  const seen = known.get(schema)
  if (seen) return seen
  const found = lookFor(schema)
  known.set(schema, found)
  return found
}

export function takesFiles({ parametersSchema }: Pick<ModelDefinition, 'parametersSchema'>): boolean {
  return fileParametersOf(parametersSchema).length > 0
}

/** The files among parameters that fit the schema, by name and in the order of lists. */
export function filesAmong(parameters: unknown, schema: JsonSchema): FileAmong[] {
  const files: FileAmong[] = []
  if (!isObject(parameters)) return files
  const add = (path: (string | number)[], value: unknown) => {
    if (typeof value === 'string' && FILE_ID.test(value)) files.push({ parameter: jsonPointer(path), fileId: value })
  }
  for (const { name, isList } of fileParametersOf(schema)) {
    const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (!isList) add([name], value)
    else if (Array.isArray(value)) for (const [index, item] of value.entries()) add([name, index], item)
  }
  return files
}

function lookFor(schema: JsonSchema): FileParameter[] {
  const found: FileParameter[] = []
  for (const whole of alternativesOf(schema, schema, 0)) {
    if (!isObject(whole.properties)) continue
    for (const [name, property] of Object.entries(whole.properties)) {
      const forms = alternativesOf(property, schema, 0)
      const isList = forms.some((form) => alternativesOf(form.items, schema, 0).some(isFile))
      if (isList || forms.some(isFile)) found.push({ name, isList })
    }
  }
  return found.length === 0 ? NONE : found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function isFile({ format }: JsonSchema): boolean {
  return format === FILE_FORMAT
}

/** The schema itself and what it is put together from. */
function alternativesOf(schema: unknown, root: JsonSchema, depth: number): JsonSchema[] {
  if (!isObject(schema) || depth > REFS_MAX) return []
  const inner = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((branches) =>
    Array.isArray(branches) ? branches : [],
  )
  if (typeof schema.$ref === 'string') inner.push(targetOf(schema.$ref, root))
  return [schema, ...inner.flatMap((branch) => alternativesOf(branch, root, depth + 1))]
}

/** Only what lies in the same schema: `#/$defs/document`. */
function targetOf(ref: string, root: JsonSchema): unknown {
  if (!ref.startsWith('#')) return undefined
  let place: unknown = root
  for (const part of ref.slice(1).split('/').slice(1)) {
    const name = decoded(part)
    place = isObject(place) && Object.hasOwn(place, name) ? place[name] : undefined
  }
  return place
}

function decoded(part: string): string {
  const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
