/** JSON Schemas for a reader: what kind of value it is, in words and links, its fields as a table, and a value that fits. */

import { html, type Markup } from '../run/html.ts'
import { words } from './markup.ts'
import type { JsonSchema } from './openapi-schemas.ts'

const COMPONENT = '#/components/schemas/'
const EXAMPLE_DEPTH_MAX = 6

export const OPTIONAL = html` <span class="soft">optional</span>`

type Named = Record<string, JsonSchema>

export function schemaAnchor(name: string): string {
  return `schema-${name}`
}

/** Such as: list of Run, or null. */
export function kindOf(schema: JsonSchema): Markup {
  const reference = nameOf(schema)
  if (reference) return html`<a href="#${schemaAnchor(reference)}">${reference}</a>`
  const { const: constant, enum: values, anyOf, oneOf, allOf, items } = schema
  if (constant !== undefined) return html`<code>${JSON.stringify(constant)}</code>`
  if (Array.isArray(values)) return joined(values.map((value) => html`<code>${JSON.stringify(value)}</code>`))
  for (const several of [anyOf, oneOf]) if (Array.isArray(several)) return joined(several.map(kindOf))
  if (Array.isArray(allOf)) return html`${allOf.map(kindOf).map((kind, index) => html`${index > 0 && ' and '}${kind}`)}`
  if (schema.type === 'array') return html`list of ${kindOf((items ?? {}) as JsonSchema)}${bounds(schema)}`
  if (Array.isArray(schema.type)) return joined(schema.type.map((type) => html`${type}`))
  return html`${String(schema.format ?? schema.type ?? 'any JSON')}${bounds(schema)}`
}

function joined(kinds: Markup[]): Markup {
  return html`${kinds.map((kind, index) => html`${index > 0 && ' | '}${kind}`)}`
}

const BOUNDS: [string, string][] = [
  ['minimum', '≥ '],
  ['exclusiveMinimum', '> '],
  ['maximum', '≤ '],
  ['exclusiveMaximum', '< '],
  ['minLength', 'length ≥ '],
  ['maxLength', 'length ≤ '],
  ['minItems', 'at least '],
  ['maxItems', 'at most '],
  ['pattern', 'like '],
]

function bounds(schema: JsonSchema): Markup | null {
  const said = BOUNDS.filter(([name]) => name in schema && Math.abs(Number(schema[name])) !== Number.MAX_SAFE_INTEGER)
  if (said.length === 0) return null
  return html`<span class="soft">, ${said.map(([name, word]) => `${word}${schema[name]}`).join(', ')}</span>`
}

/** Null when the schema is not an object with named fields. */
export function fieldTable(schema: JsonSchema): Markup | null {
  const { properties, required = [] } = schema as { properties?: Named; required?: string[] }
  if (!properties || Object.keys(properties).length === 0) return null
  const rows = Object.entries(properties).map(
    ([name, field]) => html`<tr><td><code>${name}</code>${required.includes(name) ? null : OPTIONAL}</td>
<td>${kindOf(field)}</td><td>${words(String(field.description ?? ''))}</td></tr>\n`,
  )
  return html`<div class="wide"><table><thead><tr><th>name</th><th>value</th><th>meaning</th></tr></thead><tbody>
${rows}</tbody></table></div>\n`
}

/** The smallest value that fits: of an object only what is required. */
export function exampleOf(schema: JsonSchema, named: Named, depth = 0): unknown {
  const reference = nameOf(schema)
  if (depth > EXAMPLE_DEPTH_MAX) return null
  if (reference) return exampleOf(named[reference] ?? {}, named, depth + 1)
  const { const: constant, enum: values, default: preset, examples, anyOf, oneOf, allOf } = schema
  if (constant !== undefined) return constant
  if (Array.isArray(examples)) return examples[0]
  if (preset !== undefined) return preset
  if (Array.isArray(values)) return values[0]
  for (const several of [anyOf, oneOf, allOf])
    if (Array.isArray(several)) return exampleOf(several[0], named, depth + 1)
  return exampleOfType(schema, named, depth)
}

function exampleOfType(schema: JsonSchema, named: Named, depth: number): unknown {
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object': {
      const { properties = {}, required = [] } = schema as { properties?: Named; required?: string[] }
      return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {}, named, depth + 1)]))
    }
    case 'array':
      return schema.minItems ? [exampleOf((schema.items ?? {}) as JsonSchema, named, depth + 1)] : []
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'string':
      return TEXTS[String(schema.format)] ?? 'text'
    default:
      return null
  }
}

const TEXTS: Record<string, string> = {
  uuid: '0190a5d2-7c3e-7a51-9b0c-3f5d8e6a1b24',
  'date-time': '2030-01-31T08:00:00Z',
}

function nameOf({ $ref }: JsonSchema): string | null {
  return typeof $ref === 'string' && $ref.startsWith(COMPONENT) ? $ref.slice(COMPONENT.length) : null
}
