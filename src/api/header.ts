/** Reading request headers whose meaning is ours: each may come once, and says what is wrong when it does not fit. */

import type { IncomingMessage } from 'node:http'
import { Refusal } from '../run/errors.ts'

const PRINTABLE = /^[\x20-\x7e]{1,255}$/
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
const TRACE_PARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The key of the header, with or without quotes (RFC 8941 string), and of the body must be one. Null without any. */
export function idempotencyKey(request: IncomingMessage, bodyKey: string | null | undefined): string | null {
  const header = request.headers['idempotency-key'] as string | undefined
  if (header === undefined && (bodyKey === undefined || bodyKey === null)) return null
  const fromHeader = header === undefined ? null : headerKey(request, header)
  const fromBody = bodyKey === undefined || bodyKey === null ? null : checkedBodyKey(bodyKey)
  if (fromHeader !== null && fromBody !== null && fromHeader !== fromBody) {
    const errors = [{ pointer: '/idempotency_key', detail: 'differs from the Idempotency-Key header' }]
    throw new Refusal('idempotency-key-mismatch', 'The Idempotency-Key header and the body name different keys.', {
      errors,
    })
  }
  return fromHeader ?? fromBody
}

function headerKey(request: IncomingMessage, header: string): string {
  if (lineCount(request, 'idempotency-key') > 1) {
    throw new Refusal('idempotency-key-invalid', 'The Idempotency-Key header is given more than once.')
  }
  const key = header.startsWith('"') ? unquoted(header) : header
  if (key !== null && PRINTABLE.test(key)) return key
  const detail = 'The Idempotency-Key header must hold 1 to 255 printable ASCII characters, bare or as a quoted string.'
  throw new Refusal('idempotency-key-invalid', detail)
}

function checkedBodyKey(key: string): string {
  if (PRINTABLE.test(key)) return key
  const detail = 'must be 1 to 255 printable ASCII characters'
  throw new Refusal('idempotency-key-invalid', `The idempotency key ${detail}.`, {
    errors: [{ pointer: '/idempotency_key', detail }],
  })
}

function unquoted(text: string): string | null {
  const inner = QUOTED.exec(text)?.[1]
  return inner === undefined ? null : inner.replace(/\\(["\\])/g, '$1')
}

/** The owner that the `Holdfast-Owner` header names, null without one, or what is wrong with it. */
export function ownerNamedBy(request: IncomingMessage): string | null | Refusal {
  const owner = request.headers['holdfast-owner'] as string | undefined
  if (owner === undefined) return null
  if (lineCount(request, 'holdfast-owner') > 1) {
    return new Refusal('invalid-header', 'The Holdfast-Owner header is given more than once.')
  }
  if (PRINTABLE.test(owner)) return owner
  return new Refusal('invalid-header', 'The Holdfast-Owner header must hold 1 to 255 printable ASCII characters.')
}

/** Who submits, as long as there are no tokens that say so. */
export function ownerOf(request: IncomingMessage): string {
  const named = ownerNamedBy(request)
  if (named instanceof Refusal) throw named
  return named ?? 'default'
}

/** A malformed W3C traceparent means there is none; it is never an error. */
export function traceParentOf(request: IncomingMessage): string | null {
  const text = request.headers.traceparent
  return typeof text === 'string' && TRACE_PARENT.test(text) ? text : null
}

/** The caller's own id for the request when it is harmless everywhere ids go: header, log, JSON, URL. */
export function requestIdOf(request: IncomingMessage): string | null {
  const text = request.headers['x-request-id']
  return typeof text === 'string' && REQUEST_ID.test(text) ? text : null
}

/** Node joins the lines of a repeated header, so the joined text cannot say how many there were. */
function lineCount(request: IncomingMessage, lowerName: string): number {
  let count = 0
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    if (request.rawHeaders[index]!.toLowerCase() === lowerName) count += 1
  }
  return count
}
