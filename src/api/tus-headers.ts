/** The headers of tus 1.0.0, read: what does not fit is refused with the name of the header; and those that are ours. */

import type { FastifyRequest } from 'fastify'
import { Refusal } from '../run/errors.ts'

export const TUS_VERSION = '1.0.0'
export const TUS_EXTENSIONS = 'creation,creation-with-upload,expiration,termination'
/** Of the answer that an upload is finished with, since those of tus have no body. */
export const QUOTA_WARNINGS_HEADER = 'Holdfast-Quota-Warnings'
export const COST_WARNING_HEADER = 'Holdfast-Cost-Limit-Warning'
export const TUS_BODY_TYPE = 'application/offset+octet-stream'

const METADATA_NAME = /^[\x21-\x2b\x2d-\x7e]{1,64}$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/
const NUMBER = /^\d{1,15}$/

/** A client of another version must not be answered as if it had been understood. */
export function checkTusVersion({ headers }: FastifyRequest): void {
  const version = headers['tus-resumable']
  if (version === TUS_VERSION) return
  const said = version === undefined ? 'is missing' : `is ${JSON.stringify(String(version).slice(0, 40))}`
  throw new Refusal('tus-version', `The header Tus-Resumable ${said}; this service speaks ${TUS_VERSION}.`)
}

export function checkTusBodyType({ headers }: FastifyRequest): void {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (type === TUS_BODY_TYPE) return
  throw new Refusal('unsupported-media-type', `Send the bytes of the upload as ${TUS_BODY_TYPE}.`)
}

export function uploadLengthOf(request: FastifyRequest): number {
  if (request.headers['upload-defer-length'] !== undefined) {
    throw refused('Upload-Defer-Length', 'is not supported; the length must be known')
  }
  return numberOf(request, 'Upload-Length')
}

export function uploadOffsetOf(request: FastifyRequest): number {
  return numberOf(request, 'Upload-Offset')
}

/** Null when the request does not say how long its body is. */
export function contentLengthOf({ headers }: FastifyRequest): number | null {
  const text = headers['content-length']
  return text !== undefined && NUMBER.test(text) ? Number(text) : null
}

function numberOf({ headers }: FastifyRequest, name: string): number {
  const text = headers[name.toLowerCase()]
  if (typeof text === 'string' && NUMBER.test(text)) return Number(text)
  throw refused(name, text === undefined ? 'is missing' : 'must hold a whole number of bytes')
}

/** Names with values in base64, separated by commas; a value may be missing. */
export function uploadMetadataOf({ headers }: FastifyRequest): Record<string, string> {
  const text = headers['upload-metadata']
  const metadata = new Map<string, string>()
  if (text === undefined || text === '') return {}
  for (const pair of String(text).split(',')) {
    const [name = '', value = '', ...more] = pair.trim().split(/[ \t]+/)
    if (!METADATA_NAME.test(name) || more.length > 0) throw badMetadata('must hold names and values in base64')
    if (metadata.has(name)) throw badMetadata(`names ${JSON.stringify(name)} twice`)
    metadata.set(name, textOf(name, value))
  }
  return Object.fromEntries(metadata)
}

/** What `uploadMetadataOf` has read, as a header again. */
export function metadataHeader(metadata: Record<string, string>): string {
  const pairs = Object.entries(metadata).map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
  return pairs.map((pair) => pair.trimEnd()).join(',')
}

function textOf(name: string, base64: string): string {
  if (!BASE64.test(base64)) throw badMetadata(`has a value of ${JSON.stringify(name)} that is no base64`)
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'))
    if (!text.includes('\u0000')) return text
  } catch {
    // Told below.
  }
  throw badMetadata(`has a value of ${JSON.stringify(name)} that is no plain text in UTF-8`)
}

function badMetadata(detail: string): Refusal {
  return refused('Upload-Metadata', detail)
}

function refused(name: string, detail: string): Refusal {
  return new Refusal('invalid-header', `The header ${name} ${detail}.`)
}
