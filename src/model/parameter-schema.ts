/**
 * The schema of a model's parameters: any Standard Schema that can also state itself as JSON Schema.
 *
 * The JSON Schema is what the service validates, defaults and hashes from; the schema itself checks again in the worker,
 * where it may refuse but no longer change what was accepted.
 */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema } from '../run/definition.ts'
import { parameterCheckOf } from './parameter-check.ts'

export type ParametersSchema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output>

const TARGET = 'draft-2020-12'

/** The JSON Schema of what callers send (the input side). Throws an Error that says the cure. */
export function statedJsonSchema(schema: unknown): JsonSchema {
  const standard = standardOf(schema)
  const converter = (standard as Partial<StandardJSONSchemaV1.Props>).jsonSchema
  if (typeof converter?.input !== 'function') {
    throw new TypeError(
      `parameters: this ${standard.vendor} schema cannot state itself as JSON Schema. ` +
        `Use a version of ${standard.vendor} that implements Standard JSON Schema (zod 4.2 or later does), ` +
        'or give a JSON Schema with jsonSchema({...}).',
    )
  }
  const stated = converted(converter as StandardJSONSchemaV1.Converter, standard.vendor)
  if (stated.type !== undefined && stated.type !== 'object') {
    throw new TypeError(`parameters: the schema must describe an object, not ${JSON.stringify(stated.type)}`)
  }
  return stated
}

/** Wraps a plain JSON Schema (draft 2020-12) as a Standard Schema, for models that do not use a schema library. */
export function jsonSchema<Parameters = Record<string, unknown>>(schema: JsonSchema): ParametersSchema<Parameters> {
  const kept = structuredClone(schema)
  const standard: StandardSchemaV1.Props<Parameters> & StandardJSONSchemaV1.Props<Parameters> = {
    version: 1,
    vendor: 'holdfast',
    validate: (value) => {
      const checked = parameterCheckOf(kept)(value)
      if (checked.ok) return { value: checked.value as Parameters }
      return { issues: checked.errors.map(({ pointer, detail }) => ({ message: detail, path: pathOf(pointer) })) }
    },
    jsonSchema: { input: () => structuredClone(kept), output: () => structuredClone(kept) },
  }
  return { '~standard': standard }
}

function standardOf(schema: unknown): StandardSchemaV1.Props {
  const standard = (schema as StandardSchemaV1 | undefined)?.['~standard']
  if (typeof standard?.validate !== 'function') {
    throw new TypeError(
      'parameters: expected a Standard Schema such as z.object({...}); for a plain JSON Schema use jsonSchema({...})',
    )
  }
  return standard
}

function converted(converter: StandardJSONSchemaV1.Converter, vendor: string): JsonSchema {
  try {
    return converter.input({ target: TARGET })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new TypeError(
      `parameters: this ${vendor} schema cannot state itself as JSON Schema (${why}). ` +
        'Callers send JSON: describe what they send, and transform it afterwards.',
      { cause },
    )
  }
}

function pathOf(pointer: string): string[] {
  const names = pointer.split('/').slice(1)
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
}
