/**
 * Every error leaves as problem+json (RFC 9457), whoever raised it: a rule, a route, the framework, or the HTTP
 * parser.
 *
 * What a caller reads comes from the catalogue and from text written for it. Unexpected errors are logged with the
 * request id and answered as `internal-error`, so that no statement, path or stack leaves the house.
 */

import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { PROBLEM_CONTENT_TYPE, type ProblemObject } from '../contract/problem.ts'
import { ERRORS, type ErrorCode, problemType, Refusal } from '../run/errors.ts'
import type { Log } from '../telemetry/log.ts'

const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = {
  busy: 1,
  'database-unavailable': 5,
  'shutting-down': 5,
}

const FRAMEWORK_ERRORS: Record<string, { code: ErrorCode; detail: string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'body-too-large', detail: 'The body is larger than this service accepts.' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 'unsupported-media-type', detail: 'Send the body as application/json.' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'invalid-header',
    detail: 'The body is not as long as Content-Length says.',
  },
  FST_ERR_BAD_URL: { code: 'not-found', detail: 'The path is not well encoded.' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'not-found', detail: 'No path is that long.' },
}

/** Errors that anything may raise. */
const OUTSIDE_ERRORS: typeof FRAMEWORK_ERRORS = {
  'upload-broken': { code: 'request-timeout', detail: 'The upload was broken off before its end.' },
  'artifact-store-full': { code: 'storage-full', detail: 'There is no room left to store this.' },
  'artifact-store-unavailable': {
    code: 'storage-unavailable',
    detail: 'The store of files does not answer right now.',
  },
}

const PARSER_ERRORS: Record<string, { code: ErrorCode; detail: string }> = {
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request-timeout', detail: 'The request did not arrive completely in time.' },
  HPE_HEADER_OVERFLOW: { code: 'invalid-header', detail: 'The headers of the request are too large.' },
}
const MALFORMED = { code: 'invalid-header', detail: 'The request is not well-formed HTTP.' } as const

export function problemOf(refusal: Refusal, requestId: string): ProblemObject {
  const { status, title, retryable, next } = ERRORS[refusal.code]
  return {
    type: problemType(refusal.code),
    title,
    status,
    code: refusal.code,
    detail: refusal.detail,
    next,
    retryable,
    instance: requestId,
    ...refusal.extra,
    ...(refusal.errors && { errors: refusal.errors }),
  }
}

/** `payloadOf` makes what is sent of the text. */
export function sendProblem(
  reply: FastifyReply,
  refusal: Refusal,
  payloadOf: (text: Buffer) => Buffer | Readable = (text) => text,
): FastifyReply {
  const { status } = ERRORS[refusal.code]
  const retryAfter = RETRY_AFTER_SECONDS[refusal.code] ?? (status === 503 || status === 429 ? 1 : undefined)
  if (retryAfter !== undefined && !reply.hasHeader('Retry-After')) reply.header('Retry-After', retryAfter)
  if (status === 401) reply.header('WWW-Authenticate', 'Bearer realm="holdfast"')
  return (
    reply
      .code(status)
      .header('X-Request-Id', reply.request.id)
      .header('Content-Type', PROBLEM_CONTENT_TYPE)
      // As bytes: to text the framework would add a charset, which this type does not have.
      .send(payloadOf(Buffer.from(JSON.stringify(problemOf(refusal, reply.request.id)))))
  )
}

/** The error handler of the whole service, also for errors raised before a route was found. */
export function createErrorHandler(
  log: Log,
  send: (reply: FastifyReply, refusal: Refusal) => void = sendProblem,
): (error: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const fields = { request_id: request.id, method: request.method, route: request.routeOptions?.url ?? null }
    const refusal = refusalOf(error)
    const { status } = ERRORS[refusal.code]
    if (refusal.code === 'internal-error') log.error({ ...fields, err: error }, 'request failed')
    else if (status >= 500) log.warn({ ...fields, code: refusal.code, err: error }, 'request refused')
    else log.debug({ ...fields, code: refusal.code, detail: refusal.detail }, 'request refused')
    send(reply, refusal)
  }
}

/** What a caller is told of an error. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const known = FRAMEWORK_ERRORS[codeOf(error)] ?? OUTSIDE_ERRORS[codeOf(error)]
  if (known) return new Refusal(known.code, known.detail, { cause: error })
  if (isFrameworkRefusal(error)) return new Refusal(MALFORMED.code, MALFORMED.detail, { cause: error })
  const detail = 'An unexpected error happened. The log of the service has it under this request id.'
  return new Refusal('internal-error', detail, { cause: error })
}

/** The framework refuses some odd requests on its own; that is no fault of ours. */
function isFrameworkRefusal(error: unknown): boolean {
  const { statusCode = 500 } = error as { statusCode?: number }
  return codeOf(error).startsWith('FST_') && statusCode < 500
}

/** For what never became a request: malformed HTTP, and headers or bodies that came too slowly. */
export function answerBrokenRequest(error: Error, socket: Socket): void {
  // A response on its way would be garbled by another one.
  const answering = (socket as { _httpMessage?: { headersSent?: boolean } | null })._httpMessage?.headersSent
  if (answering || !socket.writable || codeOf(error) === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { code, detail } = PARSER_ERRORS[codeOf(error)] ?? MALFORMED
  const requestId = randomUUID()
  const body = JSON.stringify(problemOf(new Refusal(code, detail), requestId))
  const { status } = ERRORS[code]
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${PROBLEM_CONTENT_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}
