/**
 * What presented tokens are worth, remembered for two seconds: so long may a revoked token go on working, and so seldom is the
 * database asked about a busy one.
 *
 * One look-up is under way at a time; hashes that come meanwhile share the next. However many wrong tokens are tried, they cost one
 * connection and a bounded memory.
 */

import type { Credential, Tokens } from '../store/ports/tokens.ts'
import { hashOf } from './token-text.ts'

const KEPT_MS = 2_000
const KEPT_MAX = 10_000
const WRONG_KEPT_MAX = 1_000
const LOOK_UP_MAX = 500

export type KnownTokens = {
  /** The text is a token or a session; null when nothing like it was ever made. */
  find(text: string): Credential | null | Promise<Credential | null>
  /** Everything is looked up anew: a token or a session ended here. */
  forget(): void
}

type Asked = {
  promise: Promise<Credential | null>
  resolve(found: Credential | null): void
  reject(error: unknown): void
}

export function createKnownTokens(
  tokens: Pick<Tokens, 'findByHash'>,
  nowMs: () => number = () => performance.now(),
): KnownTokens {
  const right = new Map<string, { credential: Credential; untilMs: number }>()
  const wrong = new Map<string, { untilMs: number }>()
  const asked = new Map<string, Asked>()
  let isLooking = false
  let forgotten = 0

  function keep(hash: string, credential: Credential | null): void {
    const untilMs = nowMs() + KEPT_MS
    if (credential) makeRoom(right, KEPT_MAX).set(hash, { credential, untilMs })
    else makeRoom(wrong, WRONG_KEPT_MAX).set(hash, { untilMs })
  }

  async function lookUp(): Promise<void> {
    isLooking = true
    while (asked.size > 0) {
      const batch = [...asked].slice(0, LOOK_UP_MAX)
      for (const [hash] of batch) asked.delete(hash)
      const begun = forgotten
      try {
        const found = await tokens.findByHash(batch.map(([hash]) => hash))
        const byHash = new Map(found.map((credential) => [credential.hash, credential]))
        for (const [hash, { resolve }] of batch) {
          const credential = byHash.get(hash) ?? null
          // What was read before something ended here may be out of date already.
          if (begun === forgotten) keep(hash, credential)
          resolve(credential)
        }
      } catch (error) {
        for (const [, { reject }] of batch) reject(error)
      }
    }
    isLooking = false
  }

  return {
    find(text) {
      const hash = hashOf(text)
      const now = nowMs()
      const kept = right.get(hash)
      if (kept !== undefined && now < kept.untilMs) return kept.credential
      const refused = wrong.get(hash)
      if (refused !== undefined && now < refused.untilMs) return null
      const waiting = asked.get(hash) ?? Promise.withResolvers<Credential | null>()
      asked.set(hash, waiting)
      if (!isLooking) void lookUp()
      return waiting.promise
    },
    forget() {
      forgotten += 1
      right.clear()
      wrong.clear()
    },
  }
}

/** The oldest go first. */
function makeRoom<Value>(kept: Map<string, Value>, max: number): Map<string, Value> {
  for (const key of kept.keys()) {
    if (kept.size < max) break
    kept.delete(key)
  }
  return kept
}
