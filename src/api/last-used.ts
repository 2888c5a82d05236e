/**
 * Notes which tokens are in use: at most once a minute for each, several at a time, and never while a request waits for it. A note that
 * cannot be written is given up; the next use makes another.
 */

import type { Tokens } from '../store/ports/tokens.ts'
import type { Log } from '../telemetry/log.ts'

const NOTED_MS = 60_000
const GATHER_MS = 1_000
const NOTED_MAX = 10_000

export type LastUsed = {
  note(tokenId: string): void
  /** Writes what has been gathered, at the end. */
  flush(): Promise<void>
}

export function createLastUsed(
  options: { tokens: Pick<Tokens, 'touch'>; log: Log; gatherMs?: number },
  nowMs: () => number = () => performance.now(),
): LastUsed {
  const { tokens, log, gatherMs = GATHER_MS } = options
  const notedAtMs = new Map<string, number>()
  const gathered = new Set<string>()
  let timer: NodeJS.Timeout | null = null

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (gathered.size === 0) return
    const ids = [...gathered]
    gathered.clear()
    try {
      await tokens.touch(ids)
    } catch (error) {
      log.warn({ err: error }, 'the use of tokens could not be noted')
    }
  }

  return {
    note(tokenId) {
      const last = notedAtMs.get(tokenId)
      const now = nowMs()
      if (last !== undefined && now - last < NOTED_MS) return
      if (notedAtMs.size >= NOTED_MAX) notedAtMs.clear()
      notedAtMs.set(tokenId, now)
      gathered.add(tokenId)
      timer ??= setTimeout(() => void flush(), gatherMs).unref()
    },
    flush,
  }
}
