/**
 * The version of a run as a weak ETag: what has happened to it, how its attempts stand, and why it waits. That a lease
 * was renewed is no new version.
 */

import { createHash } from 'node:crypto'
import type { RunDetail } from '../store/store.ts'

export function etagOf({ run, attempts, waiting }: RunDetail): string {
  const seen = [run.eventSeq, run.status, attempts.map((one) => [one.state, one.progress, one.externalRef]), waiting]
  return `W/"${createHash('sha256').update(JSON.stringify(seen)).digest('base64url').slice(0, 22)}"`
}

/**
 * Whether an `If-None-Match` header names the tag. Weak and strong tags count as equal, as RFC 9110 says for this
 * header.
 */
export function namesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const opaque = etag.replace(/^W\//, '')
  return header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === opaque)
}
