/**
 * The version of a run as a weak ETag: what has happened to it, how its attempts stand, why it waits, and what it cost, which the janitor
 * may note after the end. That a lease was renewed is no new version.
 */

import { createHash } from 'node:crypto'
import type { RunDetail } from '../store/store.ts'

export function etagOf({ run, attempts, waiting, cost = null }: RunDetail): string {
  const stand = attempts.map((one) => [one.state, one.progress, one.externalRef])
  const seen = [run.eventSeq, run.status, stand, waiting, cost && [cost.state, cost.settled]]
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
