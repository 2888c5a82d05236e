/**
 * Checks parameters against the JSON Schema (draft 2020-12) of a model and applies its defaults. Nothing is coerced.
 *
 * The compiled check is kept per schema text, so that any number of equal definitions share one. The validator is loaded
 * at first use: a pool child that never checks by JSON Schema does not pay for it.
 */

import { createRequire } from 'node:module'
import type { ErrorObject, ValidateFunction } from 'ajv'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import type addFormats from 'ajv-formats'
import type { JsonSchema } from '../run/definition.ts'
import { FILE_FORMAT, FILE_ID } from '../run/file-parameters.ts'
import { jsonPointer } from '../run/json-pointer.ts'
import { nearestOf } from '../run/nearest.ts'

/** `pointer` is a JSON pointer from the parameters object; a missing or unknown parameter is pointed at itself. */
export type ParameterError = { pointer: string; detail: string }
export type ParameterCheck = { ok: true; value: unknown } | { ok: false; errors: ParameterError[] }
export type CheckParameters = (value: unknown) => ParameterCheck

const CHECKS_KEPT_MAX = 500
const ERRORS_MAX = 50
const NAMES_MAX = 10

const bySchemaText = new Map<string, CheckParameters>()
const bySchemaObject = new WeakMap<JsonSchema, CheckParameters>()
let ajv: Ajv2020 | undefined

/** Throws when the schema does not compile. The returned check never changes the value it is given. */
export function parameterCheckOf(schema: JsonSchema): CheckParameters {
  const seen = bySchemaObject.get(schema)
  if (seen) return seen
  const text = JSON.stringify(schema)
  const check = bySchemaText.get(text) ?? compile(text)
  bySchemaText.delete(text)
  bySchemaText.set(text, check)
  if (bySchemaText.size > CHECKS_KEPT_MAX) bySchemaText.delete(bySchemaText.keys().next().value as string)
  bySchemaObject.set(schema, check)
  return check
}

export function checkParameters(schema: JsonSchema, value: unknown): ParameterCheck {
  return parameterCheckOf(schema)(value)
}

/** What the meta-schema of the draft has against a schema, with pointers into it. */
export function schemaErrors(schema: JsonSchema): ParameterError[] {
  ajv ??= loadAjv()
  if (ajv.validateSchema(schema)) return []
  // The first error of a place says most; the others tell of the branches that led to it.
  const first = new Map<string, ParameterError>()
  for (const error of ajv.errors ?? []) {
    if (!first.has(error.instancePath)) first.set(error.instancePath, explain(error))
  }
  return [...first.values()]
}

/** The formats that are checked. */
export function formatNames(): string[] {
  ajv ??= loadAjv()
  return Object.keys(ajv.formats)
}

function compile(schemaText: string): CheckParameters {
  ajv ??= loadAjv()
  const schema = JSON.parse(schemaText) as JsonSchema
  const validate = ajv.compile(schema)
  // The compiled function keeps what it needs; the instance must not grow with every schema it has seen.
  ajv.removeSchema(schema)
  const appliesDefaults = schemaText.includes('"default":')
  return (value) => {
    const checked = appliesDefaults ? copyJson(value) : value
    if (validate(checked)) return { ok: true, value: checked }
    return { ok: false, errors: errorsOf(validate) }
  }
}

function loadAjv(): Ajv2020 {
  const require = createRequire(import.meta.url)
  const loaded = require('ajv/dist/2020.js') as { Ajv2020: typeof Ajv2020 }
  const formats = require('ajv-formats') as { default: typeof addFormats.default }
  const instance = new loaded.Ajv2020({
    allErrors: true,
    useDefaults: true,
    coerceTypes: false,
    strict: false,
    logger: false,
    addUsedSchema: false,
    verbose: true,
  })
  formats.default(instance)
  instance.addFormat(FILE_FORMAT, FILE_ID)
  return instance
}

function errorsOf(validate: ValidateFunction): ParameterError[] {
  const errors: ParameterError[] = []
  for (const error of validate.errors ?? []) {
    const { pointer, detail } = explain(error)
    if (!errors.some((known) => known.pointer === pointer && known.detail === detail)) errors.push({ pointer, detail })
    if (errors.length === ERRORS_MAX) break
  }
  return errors
}

function explain(error: ErrorObject): ParameterError {
  const { keyword, instancePath, params } = error
  if (keyword === 'required' || keyword === 'dependentRequired') {
    return { pointer: below(instancePath, params.missingProperty), detail: 'is required' }
  }
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const name: string = params.additionalProperty ?? params.unevaluatedProperty
    return { pointer: below(instancePath, name), detail: `is not a known parameter${whatIsKnown(name, error)}` }
  }
  if (keyword === 'propertyNames') {
    return { pointer: below(instancePath, params.propertyName), detail: 'is not an allowed name' }
  }
  if (keyword === 'enum') {
    const allowed = (params.allowedValues as unknown[]).slice(0, 20).map((value) => JSON.stringify(value))
    return { pointer: instancePath, detail: `must be one of ${allowed.join(', ')}` }
  }
  if (keyword === 'const') {
    return { pointer: instancePath, detail: `must be ${JSON.stringify(params.allowedValue)}` }
  }
  return { pointer: instancePath, detail: error.message ?? `fails ${keyword}` }
}

function whatIsKnown(name: string, error: ErrorObject): string {
  const known = Object.keys((error.parentSchema?.properties as object | undefined) ?? {})
  const nearest = nearestOf(name, known)
  if (nearest !== null) return `; the nearest is ${nearest}`
  const more = known.length > NAMES_MAX ? ', …' : ''
  return known.length > 0 ? `; known are ${known.slice(0, NAMES_MAX).join(', ')}${more}` : ''
}

function below(pointer: string, key: string): string {
  return pointer + jsonPointer([key])
}

/** `value` is JSON, so a plain walk is right and several times faster than structuredClone. */
function copyJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyJson)
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const inner = copyJson((value as Record<string, unknown>)[key])
    // Assigning to `__proto__` would change the prototype instead of adding a member.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: inner, enumerable: true, writable: true })
    else copy[key] = inner
  }
  return copy
}
