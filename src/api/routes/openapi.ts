/**
 * The description of this API, for programs and for people. Both are made once, when first asked for, from the routes as they are
 * registered.
 */

import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { createOpenApi, type OpenApiDocument } from '../openapi.ts'
import { REFERENCE_POLICY, renderReference } from '../reference-page.ts'
import type { Answer, RouteDoc } from '../route-doc.ts'

const CONDITION = { 'if-none-match': 'The ETag of an earlier answer; 304 when it still holds.' }
const ETAG = { ETag: 'Names these very bytes.' }
const UNCHANGED: Answer = { description: 'The caller has the newest text.' }

const DOCUMENT_DOC: RouteDoc = {
  summary: 'Read this description as OpenAPI 3.1',
  tag: 'service',
  headers: CONDITION,
  answers: {
    200: { description: 'The OpenAPI document.', schema: z.looseObject({ openapi: z.string() }), headers: ETAG },
    304: UNCHANGED,
  },
  refusals: [],
}

const PAGE_DOC: RouteDoc = {
  summary: 'Read this description as a page',
  tag: 'service',
  headers: CONDITION,
  answers: { 200: { description: 'The reference as HTML.', type: 'text/html', headers: ETAG }, 304: UNCHANGED },
  refusals: [],
}

export function openApiRoutes(app: FastifyInstance): void {
  const document = once((): OpenApiDocument => createOpenApi(app.registeredRoutes))
  const json = once(() => tagged(JSON.stringify(document())))
  const page = once(() => tagged(renderReference(document())))

  app.get('/openapi.json', { config: { role: 'public', doc: DOCUMENT_DOC } }, async (request, reply) =>
    send(request, reply.header('Content-Type', 'application/json; charset=utf-8'), json()),
  )
  app.get('/docs/api', { config: { role: 'public', doc: PAGE_DOC } }, async (request, reply) => {
    reply
      .header('Content-Type', 'text/html; charset=utf-8')
      .header('Content-Security-Policy', REFERENCE_POLICY)
      .header('X-Content-Type-Options', 'nosniff')
      .header('Referrer-Policy', 'no-referrer')
    return send(request, reply, page())
  })
}

type Tagged = { text: string; etag: string }

function tagged(text: string): Tagged {
  return { text, etag: `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"` }
}

function send(request: FastifyRequest, reply: FastifyReply, { text, etag }: Tagged): FastifyReply {
  reply.header('ETag', etag).header('Cache-Control', 'no-cache')
  if (request.headers['if-none-match'] === etag) return reply.code(304).removeHeader('Content-Type').send()
  return reply.send(text)
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
