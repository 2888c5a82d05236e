/**
 * What a request must pass before any route sees it. A web page open in the user's browser must not reach us, and as
 * long as there are no tokens nobody but this machine may: see docs/operating/access.md.
 *
 * Browsers cannot forge Host, Origin or Sec-Fetch-Site. The Host rule also ends DNS rebinding, where a foreign name
 * is made to point at this machine. Programs send none of the browser's headers and pass.
 */

import type { FastifyRequest } from 'fastify'
import { Refusal } from '../run/errors.ts'
import type { AccessMode } from './access-mode.ts'

const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i

type Headers = FastifyRequest['headers']

/** The refusal, if there is one. `publicOrigin` is an origin of ours that the Host header need not name: a proxy may change that. */
export function guard(request: FastifyRequest, mode: AccessMode, publicOrigin: string | null): Refusal | undefined {
  const { headers } = request
  const refused = mode === 'open' ? (refusedHost(headers) ?? refusedForwarding(headers)) : undefined
  return refused ?? (isSafe(request.method) ? undefined : refusedWrite(request, publicOrigin))
}

/**
 * A browser adds its cookies to whatever a page asks for, so an unsafe request with one must also say that it comes from a page of ours.
 */
export function guardCookie(request: FastifyRequest, publicOrigin: string | null): Refusal | undefined {
  if (isSafe(request.method)) return undefined
  const { headers } = request
  if (headers['sec-fetch-site'] === 'same-origin') return undefined
  if (headers.origin !== undefined && isOurs(headers.origin, headers.host, publicOrigin)) return undefined
  return new Refusal(
    'cross-site-request',
    'With a session cookie the browser must say that a page of this origin asks.',
  )
}

export function isLocalHost(host: string | undefined): boolean {
  return host !== undefined && LOCAL_HOST.test(host)
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'TRACE'
}

function refusedHost(headers: Headers): Refusal | undefined {
  if (isLocalHost(headers.host)) return undefined
  const detail = 'Without access tokens this service answers only to the hosts localhost, 127.0.0.1 and [::1].'
  return new Refusal('host-not-allowed', detail)
}

function refusedForwarding(headers: Headers): Refusal | undefined {
  for (const name in headers) {
    if (name === 'forwarded' || name.startsWith('x-forwarded-')) {
      return new Refusal(
        'forwarded-header',
        `Without access tokens this service refuses requests with the header ${name}.`,
      )
    }
  }
  return undefined
}

function refusedWrite(request: FastifyRequest, publicOrigin: string | null): Refusal | undefined {
  return refusedSite(request.headers, publicOrigin) ?? refusedBody(request)
}

function refusedSite(headers: Headers, publicOrigin: string | null): Refusal | undefined {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return new Refusal('cross-site-request', 'The browser says that a page of another origin makes this request.')
  }
  const { origin, host } = headers
  if (origin !== undefined && !isOurs(origin, host, publicOrigin)) {
    return new Refusal('cross-site-request', 'The Origin header names another origin than this service.')
  }
  return undefined
}

function isOurs(origin: string, host: string | undefined, publicOrigin: string | null): boolean {
  return origin === `http://${host}` || origin === `https://${host}` || origin === publicOrigin
}

/**
 * A page may send forms and plain text without asking first, but no JSON: so JSON is all that is read, and only plain
 * bytes.
 */
function refusedBody({ headers, routeOptions }: FastifyRequest): Refusal | undefined {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new Refusal('unsupported-media-type', 'Encoded bodies are not read; send the body without Content-Encoding.')
  }
  // An upload may have any type, a form's too: that it comes from no foreign page was asked above.
  if (routeOptions.config.body === 'upload') return undefined
  const type = headers['content-type']
  if (type === undefined ? mustHaveType(headers, routeOptions.config.body) : !JSON_TYPE.test(type)) {
    return new Refusal('unsupported-media-type', 'Send the body as application/json.')
  }
  return undefined
}

function mustHaveType(headers: Headers, rule: string | undefined): boolean {
  const length = headers['content-length']
  const isEmpty = headers['transfer-encoding'] === undefined && (length === undefined || length === '0')
  return rule === 'required' || !isEmpty
}
