/** A request as a line for the shell. */

import type { Operation } from './openapi.ts'
import type { JsonSchema } from './openapi-schemas.ts'
import { exampleOf } from './reference-schema.ts'

export function curlExample(
  path: string,
  method: string,
  operation: Operation,
  named: Record<string, JsonSchema>,
): string {
  const { parameters = [], requestBody } = operation
  const target = parameters
    .filter((one) => one.in === 'path')
    .reduce((url, one) => url.replace(`{${one.name}}`, segment(exampleOf(one.schema, named))), path)
  const query = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map((one) => `${encodeURIComponent(one.name)}=${segment(exampleOf(one.schema, named))}`)
  const parts = [method === 'GET' ? 'curl' : `curl -X ${method}`]
  parts.push(`"$HOLDFAST_URL${target}${query.length > 0 ? `?${query.join('&')}` : ''}"`)
  if (operation['x-role'] !== 'public') parts.push('-H "Authorization: Bearer $HOLDFAST_TOKEN"')
  if (requestBody?.required) {
    const body = JSON.stringify(exampleOf(requestBody.content['application/json']?.schema ?? {}, named))
    parts.push("-H 'Content-Type: application/json'", `-d ${quoted(body)}`)
  }
  return parts.join(' \\\n  ')
}

function segment(value: unknown): string {
  return encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
