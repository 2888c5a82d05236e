/** The keywords of JSON Schema 2020-12 that the validator knows, by what their values hold. Any name that starts with `x-` is a note. */

/** The value is a schema. */
const ONE = [
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]
/** The value is a list of schemas. */
const LIST = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
/** The value is an object of schemas under names of the author's choice. */
const NAMED = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']
/** The value is no schema. */
const PLAIN = [
  '$anchor',
  '$comment',
  '$dynamicAnchor',
  '$dynamicRef',
  '$id',
  '$ref',
  '$schema',
  '$vocabulary',
  'const',
  'contentEncoding',
  'contentMediaType',
  'default',
  'dependentRequired',
  'deprecated',
  'description',
  'enum',
  'examples',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'maxContains',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minContains',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'multipleOf',
  'pattern',
  'readOnly',
  'required',
  'title',
  'type',
  'uniqueItems',
  'writeOnly',
]

export const KEYWORDS: readonly string[] = [...ONE, ...LIST, ...NAMED, ...PLAIN]

export type Visit = (schema: Record<string, unknown>, path: string[]) => void

/** Calls `visit` for the schema and every one inside it. What is no object is passed over. */
export function visitSchemas(schema: unknown, visit: Visit, path: string[] = []): void {
  if (!isObject(schema)) return
  visit(schema, path)
  for (const [keyword, value] of Object.entries(schema)) {
    if (ONE.includes(keyword)) visitSchemas(value, visit, [...path, keyword])
    const isMany = (LIST.includes(keyword) && Array.isArray(value)) || (NAMED.includes(keyword) && isObject(value))
    if (!isMany) continue
    for (const [name, inner] of Object.entries(value as object)) visitSchemas(inner, visit, [...path, keyword, name])
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
