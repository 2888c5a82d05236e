/** The first line to type: a request that this service accepts, made from a model it has. */

import type { ModelInfo } from '@holdfast/client'

const FAVOURITE = 'baseline_forecast_v1'
/** Better words than a schema has. */
const KNOWN: Record<string, unknown> = { scenario: 'high_inflation', region: 'AU' }

/** One that is offered now and takes no file, the well-known example before others. */
export function modelToTry(models: ModelInfo[]): ModelInfo | null {
  const fit = models.filter((model) => !takesFile(model))
  const offered = fit.filter(({ offered: is }) => is)
  return offered.find(({ name }) => name === FAVOURITE) ?? offered[0] ?? fit[0] ?? null
}

export function curlLine(origin: string, model: ModelInfo, needsToken: boolean): string {
  const body = JSON.stringify({ model: model.name, parameters: exampleOf(model.parameters_schema) })
  const token = needsToken ? ` \\\n  -H "authorization: Bearer $HOLDFAST_TOKEN"` : ''
  return `curl -s ${quoted(`${origin}/runs`)} -H 'content-type: application/json'${token} \\\n  -d ${quoted(body)}`
}

/** What must be given, with a value that the schema itself names where it can. */
export function exampleOf(schema: Record<string, unknown>): Record<string, unknown> {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  const wanted = required.filter((name) => !(isObject(properties[name]) && 'default' in properties[name]))
  return Object.fromEntries(wanted.map((name) => [name, sampleOf(name, properties[name])]))
}

function sampleOf(name: string, schema: unknown): unknown {
  if (!isObject(schema)) return name
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0]
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0]
  const alternatives = [schema.anyOf, schema.oneOf].flat().filter(isObject)
  if (alternatives.length > 0) return sampleOf(name, alternatives[0])
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object') return exampleOf(schema)
  if (type === 'array') return []
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number') return typeof schema.minimum === 'number' ? schema.minimum : 1
  return KNOWN[name] ?? name
}

function takesFile({ parameters_schema: schema }: ModelInfo): boolean {
  return JSON.stringify(schema).includes('"holdfast-file"')
}

/** For a shell, whatever the text. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
