/**
 * The OpenAPI 3.1 document of this service, made from the registered routes: from what each says about itself
 * (`route-doc.ts`), from the schemas that check its requests and from the catalogue of errors. Nothing in it is written
 * twice, so it cannot disagree.
 */

import type { z } from 'zod'
import { ProblemObject } from '../contract/problem.ts'
import type { ErrorCode } from '../run/errors.ts'
import type { RegisteredRoute } from './api.ts'
import { CONTRACT_COMMENTS } from './contract-comments.ts'
import { parametersOf, pathOf } from './openapi-parameters.ts'
import { problemCodes, problemExample, problemName, problemResponse, sharedHeaders } from './openapi-problems.ts'
import { type Comments, createSchemas, type JsonSchema, type Schemas } from './openapi-schemas.ts'
import { INFO, SECURITY, SECURITY_SCHEMES, SHARED_HEADERS, TAGS } from './openapi-words.ts'
import type { Answer } from './route-doc.ts'

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
}

export type Response = {
  description: string
  headers?: Record<string, JsonSchema>
  content?: Record<string, { schema: JsonSchema; examples?: JsonSchema }>
}

export type Operation = {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  'x-role': string
  security?: JsonSchema[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> }
  responses: Record<string, Response | { $ref: string }>
}

export type OpenApiDocument = {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  servers: { url: string; description: string }[]
  security: JsonSchema[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, Response>
    examples: Record<string, JsonSchema>
    headers: Record<string, JsonSchema>
    securitySchemes: Record<string, JsonSchema>
  }
}

export function createOpenApi(
  routes: readonly RegisteredRoute[],
  comments: Comments = CONTRACT_COMMENTS,
): OpenApiDocument {
  // HEAD is answered wherever GET is.
  const documented = routes.filter(({ method }) => method !== 'HEAD')
  const schemas = createSchemas(usedSchemas(documented), comments)
  const problems = createProblems(schemas)
  const paths: OpenApiDocument['paths'] = {}
  for (const route of [...documented].sort(byPath)) {
    const path = pathOf(route.url)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, schemas, problems) }
  }
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: '/', description: 'The service that this document comes from.' }],
    security: SECURITY,
    tags: TAGS.filter(({ name }) => documented.some(({ doc }) => doc.tag === name)),
    paths,
    components: {
      schemas: schemas.components(),
      ...problems.components(),
      headers: SHARED_HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

function byPath(a: RegisteredRoute, b: RegisteredRoute): number {
  const [one, other] = [`${a.url} ${a.method}`, `${b.url} ${b.method}`]
  return one < other ? -1 : one > other ? 1 : 0
}

function usedSchemas(routes: RegisteredRoute[]): { input: Set<z.ZodType>; output: Set<z.ZodType> } {
  const input = new Set<z.ZodType>()
  const output = new Set<z.ZodType>([ProblemObject])
  for (const { doc } of routes) {
    for (const schema of [doc.params, doc.query, doc.body]) if (schema) input.add(schema)
    // A query is described by the values it stands for, where those can be said.
    if (doc.query) output.add(doc.query)
    for (const { schema } of Object.values(doc.answers)) if (schema) output.add(schema)
  }
  return { input, output }
}

type Problems = {
  of(status: number, codes: ErrorCode[]): Response
  refer(status: number, codes: ErrorCode[]): { $ref: string }
  components(): Pick<OpenApiDocument['components'], 'responses' | 'examples'>
}

function createProblems(schemas: Schemas): Problems {
  const problem = schemas.of(ProblemObject, 'output')
  const responses = new Map<string, Response>()
  const examples = new Map<string, JsonSchema>()
  const of: Problems['of'] = (_status, codes) => {
    for (const code of codes) examples.set(code, problemExample(code))
    return problemResponse(codes, problem) as Response
  }
  return {
    of,
    refer(status, codes) {
      const name = problemName(status, codes)
      responses.set(name, of(status, codes))
      return { $ref: `#/components/responses/${name}` }
    },
    components: () => ({ responses: sorted(responses), examples: sorted(examples) }),
  }
}

function operationOf(route: RegisteredRoute, schemas: Schemas, problems: Problems): Operation {
  const { doc, role } = route
  const parameters = parametersOf(route, schemas)
  return {
    operationId: operationIdOf(route),
    summary: doc.summary,
    ...(doc.description && { description: doc.description }),
    tags: [doc.tag],
    'x-role': role,
    ...(role === 'public' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(doc.body && {
      requestBody: {
        required: route.body === 'required',
        content: { 'application/json': { schema: schemas.of(doc.body, 'input') } },
      },
    }),
    ...(doc.content && { requestBody: { required: true, content: contentOf(doc.content) } }),
    responses: responsesOf(route, schemas, problems),
  }
}

function contentOf(content: Record<string, object>): Record<string, { schema: JsonSchema }> {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema: schema as JsonSchema }]))
}

function responsesOf(route: RegisteredRoute, schemas: Schemas, problems: Problems): Operation['responses'] {
  const responses: Operation['responses'] = {}
  const always = route.role === 'public' ? ['X-Request-Id'] : ['X-Request-Id', 'RateLimit', 'RateLimit-Policy']
  for (const [status, answer] of Object.entries(route.doc.answers)) {
    responses[status] = responseOf(answer, sharedHeaders(...always), schemas)
  }
  for (const [status, codes] of problemCodes(route)) {
    const answer = responses[status] as Response | undefined
    responses[status] = answer ? joined(answer, problems.of(status, codes)) : problems.refer(status, codes)
  }
  return responses
}

function responseOf(answer: Answer, always: Record<string, JsonSchema>, schemas: Schemas): Response {
  const { description, schema, type, also = [], headers = {} } = answer
  const content: Response['content'] = {}
  if (schema || type) {
    content[type ?? 'application/json'] = { schema: schema ? schemas.of(schema, 'output') : { type: 'string' } }
  }
  for (const other of also) content[other] = { schema: { type: 'string' } }
  const described = Object.entries(headers).map(([name, text]) => [
    name,
    { description: text, schema: { type: 'string' } },
  ])
  return {
    description,
    headers: { ...always, ...Object.fromEntries(described) },
    ...(Object.keys(content).length > 0 && { content }),
  }
}

/** An answer and problems that share a status. */
function joined(answer: Response, problem: Response): Response {
  return {
    description: `${answer.description} Or ${problem.description}`,
    headers: { ...problem.headers, ...answer.headers },
    content: { ...answer.content, ...problem.content },
  }
}

/** `GET /runs/:id/result` is `getRunsByIdResult`. */
function operationIdOf({ method, url }: RegisteredRoute): string {
  const words = (url === '/' ? 'root' : pathOf(url))
    .split('/')
    .flatMap((step) => (step.startsWith('{') ? ['by', step.slice(1, -1)] : step.split(/[^A-Za-z0-9]+/)))
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
  return method.toLowerCase() + words.filter(Boolean).map(capital).join('')
}

function sorted<Value>(map: Map<string, Value>): Record<string, Value> {
  return Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)))
}
