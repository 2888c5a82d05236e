/**
 * The JSON Schema of parameters as a table people can read: one row per value, those inside others below them. What a schema says beyond
 * that is in its JSON, which is shown too.
 */

export type SchemaRow = {
  /** Where it is: `limits.floor`, `sectors[]`. */
  path: string
  type: string
  isRequired: boolean
  /** As JSON; null for none. */
  fallback: string | null
  /** What it must keep to, in words. */
  rules: string[]
  description: string | null
}

type Schema = Record<string, unknown>

const DEPTH_MAX = 5
const ROWS_MAX = 200

export function schemaRows(root: Schema): SchemaRow[] {
  const rows: SchemaRow[] = []
  addProperties(rows, root, root, '', 0)
  return rows
}

function addProperties(rows: SchemaRow[], schema: Schema, root: Schema, path: string, depth: number): void {
  const required = Array.isArray(schema.required) ? schema.required : []
  for (const [name, given] of Object.entries(isSchema(schema.properties) ? schema.properties : {})) {
    if (rows.length >= ROWS_MAX) return
    const property = resolved(given, root)
    const at = path === '' ? name : `${path}.${name}`
    rows.push({
      path: at,
      type: typeOf(property, root),
      isRequired: required.includes(name),
      fallback: 'default' in property ? JSON.stringify(property.default) : null,
      rules: rulesOf(property),
      description: typeof property.description === 'string' ? property.description : null,
    })
    if (depth < DEPTH_MAX) addInside(rows, property, root, at, depth + 1)
  }
}

function addInside(rows: SchemaRow[], property: Schema, root: Schema, path: string, depth: number): void {
  const whole =
    alternativesOf(property, root).find((one) => isSchema(one.properties) || isSchema(one.items)) ?? property
  if (isSchema(whole.properties)) addProperties(rows, whole, root, path, depth)
  else if (isSchema(whole.items)) addInside(rows, resolved(whole.items, root), root, `${path}[]`, depth)
}

/** Follows references within the schema, as far as they lead somewhere. */
function resolved(given: unknown, root: Schema, steps = 0): Schema {
  if (!isSchema(given)) return {}
  if (typeof given.$ref !== 'string' || steps > 8 || !given.$ref.startsWith('#/')) return given
  const names = given.$ref
    .slice(2)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const { $ref: _, ...beside } = given
  const target = names.reduce<unknown>(
    (at, name) => (isSchema(at) && Object.hasOwn(at, name) ? at[name] : undefined),
    root,
  )
  return { ...resolved(target, root, steps + 1), ...beside }
}

function alternativesOf(schema: Schema, root: Schema): Schema[] {
  return [schema.anyOf, schema.oneOf]
    .flat()
    .filter(isSchema)
    .map((one) => resolved(one, root))
}

function typeOf(schema: Schema, root: Schema, depth = 0): string {
  if ('const' in schema) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.format === 'holdfast-file') return 'file'
  const alternatives = alternativesOf(schema, root)
  if (alternatives.length > 0 && depth < DEPTH_MAX) {
    return [...new Set(alternatives.map((one) => typeOf(one, root, depth + 1)))].join(' or ')
  }
  const types = [schema.type].flat().filter((type) => typeof type === 'string')
  if (types.length === 0) return isSchema(schema.properties) ? 'object' : 'any'
  return types.map((type) => (type === 'array' ? listOf(schema, root, depth) : type)).join(' or ')
}

function listOf(schema: Schema, root: Schema, depth: number): string {
  if (!isSchema(schema.items) || depth >= DEPTH_MAX) return 'list'
  return `list of ${typeOf(resolved(schema.items, root), root, depth + 1)}`
}

const RULES: [name: string, words: (value: string) => string][] = [
  ['minimum', (value) => `at least ${value}`],
  ['exclusiveMinimum', (value) => `more than ${value}`],
  ['maximum', (value) => `at most ${value}`],
  ['exclusiveMaximum', (value) => `less than ${value}`],
  ['multipleOf', (value) => `a multiple of ${value}`],
  ['minLength', (value) => `at least ${value} characters`],
  ['maxLength', (value) => `at most ${value} characters`],
  ['minItems', (value) => `at least ${value} items`],
  ['maxItems', (value) => `at most ${value} items`],
  ['pattern', (value) => `matches ${value}`],
  ['format', (value) => `is a ${value}`],
]

/** Bounds that only say what the type says are left out: zod gives every integer the safe range. */
function rulesOf(schema: Schema): string[] {
  const isSaid = (name: string) =>
    name in schema && Math.abs(Number(schema[name])) !== Number.MAX_SAFE_INTEGER && schema[name] !== 'holdfast-file'
  const isFile = schema.format === 'holdfast-file'
  return RULES.filter(([name]) => isSaid(name) && !(isFile && name === 'pattern')).map(([name, words]) =>
    words(String(schema[name])),
  )
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
