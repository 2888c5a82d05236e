/**
 * What an operation can refuse with: the codes of its route, and those that come from what stands before every route, such as
 * guards, the reader of bodies and the framework. One response per status, with its codes listed.
 */

import { ERRORS, type ErrorCode, problemType } from '../run/errors.ts'
import type { RegisteredRoute } from './api.ts'
import type { JsonSchema } from './openapi-schemas.ts'

const SAFE = ['GET', 'HEAD', 'OPTIONS']

/** Codes by status, in the order of the catalogue. */
export function problemCodes(route: RegisteredRoute): Map<number, ErrorCode[]> {
  const wanted = new Set<ErrorCode>([...codesOfEveryRoute(route), ...route.doc.refusals])
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    if (!wanted.has(code)) continue
    const { status } = ERRORS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return byStatus
}

function codesOfEveryRoute({ method, url, role, doc }: RegisteredRoute): ErrorCode[] {
  const codes: ErrorCode[] = ['invalid-header', 'host-not-allowed', 'forwarded-header', 'request-timeout']
  codes.push('internal-error', 'busy', 'database-unavailable', 'shutting-down')
  if (url.includes(':')) codes.push('not-found')
  if (doc.query) codes.push('invalid-query')
  if (doc.body) codes.push('invalid-json', 'invalid-body')
  if (!SAFE.includes(method))
    codes.push('cross-site-request', 'body-too-large', 'unsupported-media-type', 'invalid-json')
  if (role !== 'public') codes.push(...ACCESS_CODES)
  return codes
}

/** Of every route that asks who is calling. */
const ACCESS_CODES: ErrorCode[] = ['unauthorized', 'forbidden', 'rate-limited']

/** That come with a status, by name; `openapi-words.ts` describes them. */
const HEADERS: Record<number, string[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
}

export function sharedHeaders(...names: string[]): Record<string, JsonSchema> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** The name of the component that holds the response for these codes. */
export function problemName(status: number, codes: readonly ErrorCode[]): string {
  return [status, ...codes].join('.')
}

export function problemResponse(codes: readonly ErrorCode[], problem: JsonSchema): JsonSchema {
  const schema = { allOf: [problem, { properties: { code: { enum: [...codes] } } }] }
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
  const { status } = ERRORS[codes[0]!]
  const headers = ['X-Request-Id', ...(HEADERS[status] ?? [])]
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' '),
    headers: sharedHeaders(...headers),
    content: { 'application/problem+json': { schema, examples } },
  }
}

export function problemExample(code: ErrorCode): JsonSchema {
  const { status, title, retryable, next } = ERRORS[code]
  const detail = `${title}.`
  const instance = '0c6f3c9e-5b52-4f4e-9d0e-6a4d1f0a7b11'
  return { summary: title, value: { type: problemType(code), title, status, code, detail, next, retryable, instance } }
}
