/**
 * How many requests one caller may make: a bucket for each that holds `burst` and fills by so many a minute. Kept in this process
 * alone: several API processes allow several times as much.
 */

import type { FastifyReply } from 'fastify'
import { Refusal } from '../run/errors.ts'

const CALLERS_MAX = 10_000

export type RateLimit = {
  /** Takes one request from the caller's bucket, says in the headers what is left, and answers the refusal when nothing was. */
  take(caller: string, reply: FastifyReply): Refusal | undefined
}

type Bucket = { left: number; atMs: number }

/** Null for no limit. */
export function createRateLimit(
  { perMinute, burst }: { perMinute: number; burst: number | null },
  nowMs: () => number = () => performance.now(),
): RateLimit | null {
  if (perMinute === 0) return null
  const buckets = new Map<string, Bucket>()
  const most = burst ?? perMinute
  const perMs = perMinute / 60_000
  const policy = `"default";q=${perMinute};w=60`

  function bucketOf(caller: string): Bucket {
    const now = nowMs()
    const found = buckets.get(caller)
    if (found) {
      found.left = Math.min(most, found.left + (now - found.atMs) * perMs)
      found.atMs = now
      return found
    }
    // The oldest goes; if its caller is still there it starts anew with a full bucket.
    for (const oldest of buckets.keys()) {
      if (buckets.size < CALLERS_MAX) break
      buckets.delete(oldest)
    }
    const fresh = { left: most, atMs: now }
    buckets.set(caller, fresh)
    return fresh
  }

  return {
    take(caller, reply) {
      const bucket = bucketOf(caller)
      const allowed = bucket.left >= 1
      if (allowed) bucket.left -= 1
      const fullInSeconds = Math.ceil((most - bucket.left) / perMs / 1_000)
      reply.header('RateLimit-Policy', policy)
      reply.header('RateLimit', `"default";r=${Math.floor(bucket.left)};t=${fullInSeconds}`)
      if (allowed) return undefined
      const waitSeconds = Math.max(1, Math.ceil((1 - bucket.left) / perMs / 1_000))
      reply.header('Retry-After', waitSeconds)
      return new Refusal('rate-limited', `More than ${perMinute} requests a minute; try again in ${waitSeconds} s.`)
    },
  }
}
