/**
 * Which models can be handed a file alone: those with exactly one parameter that is a file, or a list of them, and no other that must be
 * given. The service has the same rule for what an upload can fill.
 */

import type { ModelInfo } from '@holdfast/client'

const FILE_FORMAT = 'holdfast-file'
const DEPTH_MAX = 16
/** In the address: files are stored, and no model reads them. */
export const ONLY_STORE = 'none'

type Schema = Record<string, unknown>

export function takesOneFile({ parameters_schema: schema }: Pick<ModelInfo, 'parameters_schema'>): boolean {
  const wholes = alternatives(schema, schema, 0)
  const files = new Set<string>()
  for (const { properties } of wholes) {
    for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
      const forms = alternatives(property, schema, 0)
      const items = forms.flatMap((form) => alternatives(form.items, schema, 0))
      if ([...forms, ...items].some(({ format }) => format === FILE_FORMAT)) files.add(name)
    }
  }
  const required = wholes.flatMap((whole) => (Array.isArray(whole.required) ? whole.required : []))
  return files.size === 1 && required.every((name) => files.has(String(name)) || hasDefault(schema, String(name)))
}

/** Those that somebody works on come first. */
export function readersOf(models: readonly ModelInfo[]): ModelInfo[] {
  const rank = ({ offered }: ModelInfo) => (offered ? 0 : 1)
  return models.filter(takesOneFile).sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

/** What the address asks for, else the first there is. Null: only store. */
export function chosenReader(readers: readonly ModelInfo[], asked: string | undefined): ModelInfo | null {
  if (asked === ONLY_STORE) return null
  return readers.find(({ name }) => name === asked) ?? readers[0] ?? null
}

function hasDefault(schema: Schema, name: string): boolean {
  const property = isObject(schema.properties) ? schema.properties[name] : undefined
  return isObject(property) && 'default' in property
}

function alternatives(schema: unknown, root: Schema, depth: number): Schema[] {
  if (!isObject(schema) || depth > DEPTH_MAX) return []
  const inner = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((branches) =>
    Array.isArray(branches) ? branches : [],
  )
  if (typeof schema.$ref === 'string') inner.push(targetOf(schema.$ref, root))
  return [schema, ...inner.flatMap((branch) => alternatives(branch, root, depth + 1))]
}

function targetOf(ref: string, root: Schema): unknown {
  if (!ref.startsWith('#/')) return undefined
  const path = ref.slice(2).split('/')
  return path.reduce<unknown>((place, part) => {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    return isObject(place) && Object.hasOwn(place, name) ? place[name] : undefined
  }, root)
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
