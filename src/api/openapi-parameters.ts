/** The parameters of an operation: in the path, in the query and in headers. */

import type { z } from 'zod'
import type { RegisteredRoute } from './api.ts'
import type { Parameter } from './openapi.ts'
import type { JsonSchema, Schemas } from './openapi-schemas.ts'

/** OpenAPI has words of its own for these, and ignores them as parameters. */
const NOT_PARAMETERS = ['accept', 'content-type', 'authorization']

/** `/runs/:id` as OpenAPI writes it. It has no word for the rest of a path, so that `/ui/*` has one parameter too. */
export function pathOf(url: string): string {
  return url.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{path}')
}

export function parametersOf({ url, doc }: RegisteredRoute, schemas: Schemas): Parameter[] {
  const { params, query, headers = {} } = doc
  return [
    ...pathParameters(url, params, schemas),
    ...(query ? queryParameters(query, schemas) : []),
    ...Object.entries(headers)
      .filter(([name]) => !NOT_PARAMETERS.includes(name))
      .map(([name, text]) => parameter('header', name, false, { type: 'string', description: text })),
  ]
}

function pathParameters(url: string, params: z.ZodObject | undefined, schemas: Schemas): Parameter[] {
  const { properties = {} } = (params ? schemas.shape(params, 'input') : {}) as ObjectSchema
  return [...pathOf(url).matchAll(/\{(\w+)\}/g)].map(([, name]) =>
    parameter('path', name!, true, properties[name!] ?? { type: 'string' }),
  )
}

type ObjectSchema = { properties?: Record<string, JsonSchema>; required?: string[] }

/**
 * A query carries text. A parameter is described by the value the text stands for, such as a whole number from 1 to 200; where
 * that cannot be said, by the text. An array stands for a name that may be repeated.
 */
function queryParameters(query: z.ZodObject, schemas: Schemas): Parameter[] {
  const sent: ObjectSchema = schemas.shape(query, 'input')
  const meant: ObjectSchema = schemas.shape(query, 'output')
  return Object.entries(sent.properties ?? {}).map(([name, text]) => {
    const value = meant.properties?.[name] ?? {}
    const { description } = text
    const schema = Object.keys(value).some((key) => key !== 'description') ? value : text
    return parameter('query', name, sent.required?.includes(name) ?? false, { ...schema, description })
  })
}

function parameter(place: Parameter['in'], name: string, required: boolean, described: JsonSchema): Parameter {
  const { description, ...schema } = described
  return { name, in: place, required, ...(description ? { description: String(description) } : {}), schema }
}
