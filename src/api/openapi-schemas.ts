/**
 * From the schemas that validate to the JSON Schemas of the OpenAPI document. Schemas of the contract become components and are
 * referred to; others stand where they are used.
 *
 * A request is described as it is sent, an answer as it is received. Where a schema of the contract is used both ways and the
 * two differ, the sent one is called `…Input`.
 */

import { z } from 'zod'
import { contractSchemas } from './contract-schemas.ts'

export type JsonSchema = { [name: string]: unknown }
export type Io = 'input' | 'output'

/** What is known about schemas (`Run`) and fields (`Run.lease`) that say nothing about themselves. */
export type Comments = Record<string, string>

export type Schemas = {
  /** A reference to the component, or the schema itself when it has no name. */
  of(schema: z.ZodType, io: Io): JsonSchema
  /** The schema itself even when it has a name. */
  shape(schema: z.ZodType, io: Io): JsonSchema
  /** Every component that something refers to, sorted by name. */
  components(): Record<string, JsonSchema>
}

const COMPONENT = '#/components/schemas/'
const UNNAMED = 'unnamed-'

/** All schemas must be given at once, because the names depend on all of them. */
export function createSchemas(used: Record<Io, Iterable<z.ZodType>>, comments: Comments = {}): Schemas {
  const input = convert('input', used.input, comments)
  const output = convert('output', used.output, comments)
  const sent = reachedFrom([...used.input].map(input.of), input.named)
  const received = reachedFrom([...used.output].map(output.of), output.named)
  const differing = namesThatDiffer(pick(input.named, sent), pick(output.named, received))
  const renamed = (schema: JsonSchema) =>
    mapRefs(schema, (name) => ({ $ref: `${COMPONENT}${differing.has(name) ? `${name}Input` : name}` }))
  const given: JsonSchema[] = []
  const give = (found: JsonSchema, io: Io): JsonSchema => {
    const shown = io === 'input' ? renamed(found) : found
    given.push(shown)
    return shown
  }

  return {
    of: (schema, io) => give((io === 'input' ? input : output).of(schema), io),
    shape: (schema, io) => give((io === 'input' ? input : output).shape(schema), io),
    components() {
      const all = { ...input.named, ...output.named }
      for (const name of differing) all[`${name}Input`] = renamed(input.named[name]!)
      return pick(all, reachedFrom(given, all))
    },
  }
}

/** The names of all components that these schemas lead to, sorted. */
function reachedFrom(schemas: JsonSchema[], named: Record<string, JsonSchema>): Set<string> {
  const reached = new Set<string>()
  const visit = (schema: JsonSchema): void => {
    for (const name of refsOf(schema)) {
      if (reached.has(name)) continue
      reached.add(name)
      visit(named[name]!)
    }
  }
  for (const schema of schemas) visit(schema)
  return new Set([...reached].sort())
}

function pick(named: Record<string, JsonSchema>, names: Set<string>): Record<string, JsonSchema> {
  return Object.fromEntries([...names].map((name) => [name, named[name]!]))
}

type Converted = {
  named: Record<string, JsonSchema>
  of(schema: z.ZodType): JsonSchema
  shape(schema: z.ZodType): JsonSchema
}

function convert(io: Io, used: Iterable<z.ZodType>, comments: Comments): Converted {
  const ids = new Map<z.ZodType, string>()
  for (const [name, schema] of contractSchemas()) if (!ids.has(schema)) ids.set(schema, name)
  for (const schema of used) if (!ids.has(schema)) ids.set(schema, `${UNNAMED}${ids.size}`)
  const registry = z.registry<{ id: string }>()
  for (const [schema, id] of ids) registry.add(schema, { id })

  const { schemas } = z.toJSONSchema(registry, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    uri: (id) => COMPONENT + id,
    override: ({ jsonSchema }) => tidy(jsonSchema as JsonSchema),
  })
  if ('__shared' in schemas) throw new Error('a schema refers to itself, or has an id: export it from src/contract')
  const plain = (id: string): JsonSchema => {
    const { $schema, $id, ...schema } = schemas[id] as JsonSchema
    if (!id.startsWith(UNNAMED)) describe(id, schema, comments)
    return mapRefs(schema, (name) => (name.startsWith(UNNAMED) ? plain(name) : { $ref: COMPONENT + name }))
  }
  const names = Object.keys(schemas).filter((id) => !id.startsWith(UNNAMED))
  const idOf = (schema: z.ZodType): string => {
    const id = ids.get(schema)
    if (id === undefined) throw new Error('a schema is described that was not given')
    return id
  }
  return {
    named: Object.fromEntries(names.map((name) => [name, plain(name)])),
    of: (schema) => (idOf(schema).startsWith(UNNAMED) ? plain(idOf(schema)) : { $ref: COMPONENT + idOf(schema) }),
    shape: (schema) => plain(idOf(schema)),
  }
}

function describe(name: string, schema: JsonSchema, comments: Comments): void {
  const own = comments[name]
  if (own) schema.description ??= own
  for (const [field, inner] of Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)) {
    const said = comments[`${name}.${field}`]
    if (said) inner.description ??= said
  }
}

/** A format says all that zod's long pattern for it says; and no whole number is ever beyond what a double holds exactly. */
function tidy(schema: JsonSchema): void {
  if (schema.format === 'date-time' || schema.format === 'uuid') delete schema.pattern
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
}

/** Also those that refer to one that differs. */
function namesThatDiffer(input: Record<string, JsonSchema>, output: Record<string, JsonSchema>): Set<string> {
  const names = Object.keys(input).filter((name) => name in output)
  const differing = new Set(names.filter((name) => JSON.stringify(input[name]) !== JSON.stringify(output[name])))
  for (let size = -1; size !== differing.size; ) {
    size = differing.size
    for (const name of names) if (refsOf(input[name]!).some((ref) => differing.has(ref))) differing.add(name)
  }
  return differing
}

function refsOf(schema: JsonSchema): string[] {
  const names: string[] = []
  mapRefs(schema, (name) => {
    names.push(name)
    return {}
  })
  return names
}

/** A copy in which every reference to a component is what `map` makes of its name. */
function mapRefs(schema: JsonSchema, map: (name: string) => JsonSchema): JsonSchema {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== 'object' || value === null) return value
    const { $ref, ...rest } = value as JsonSchema
    const others = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, copy(one)]))
    if (typeof $ref !== 'string') return others
    return { ...map($ref.slice(COMPONENT.length)), ...others }
  }
  return copy(schema) as JsonSchema
}
