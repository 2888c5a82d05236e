/**
 * Follows the logs of runs for this process and hands new pieces to everyone here who waits for them. It asks the database only while
 * somebody listens, and for all listeners in one look; a failed look is repeated from the same places.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { AttemptLogs, StoredPiece } from '../store/ports/attempt-logs.ts'
import type { Log } from '../telemetry/log.ts'

export type LogListener = {
  runId: string
  /** The number of the last piece it has. */
  last(): number
  onPieces(pieces: StoredPiece[]): void
}

export type LogFollower = {
  /** Answers how to stop listening. */
  listen(listener: LogListener): () => void
  close(): Promise<void>
}

export type LogFollowerOptions = { logs: Pick<AttemptLogs, 'readNew'>; log: Log; pollMs: number }

const FAILED_PAUSE_MS_MAX = 5_000

export function createLogFollower({ logs, log, pollMs }: LogFollowerOptions): LogFollower {
  const listeners = new Set<LogListener>()
  const stop = new AbortController()
  let loop: Promise<void> | null = null

  async function follow(): Promise<void> {
    let failures = 0
    while (listeners.size > 0 && !stop.signal.aborted) {
      const pauseMs = Math.min(Math.max(pollMs, FAILED_PAUSE_MS_MAX), pollMs * 2 ** failures)
      await delay(pauseMs * (0.75 + Math.random() / 2), null, { signal: stop.signal }).catch(() => {})
      try {
        await look()
        failures = 0
      } catch (error) {
        failures += 1
        if (failures === 1) log.warn({ err: error }, 'logs could not be read')
      }
    }
    loop = null
  }

  async function look(): Promise<void> {
    const places = new Map<string, number>()
    for (const { runId, last } of listeners) places.set(runId, Math.min(places.get(runId) ?? last(), last()))
    if (places.size === 0) return
    const found = await logs.readNew([...places].map(([runId, after]) => ({ runId, after })))
    for (const listener of [...listeners]) {
      const pieces = found.get(listener.runId)?.filter(({ no }) => no > listener.last())
      if (pieces && pieces.length > 0) listener.onPieces(pieces)
    }
  }

  return {
    listen(listener) {
      listeners.add(listener)
      loop ??= follow()
      return () => void listeners.delete(listener)
    },
    async close() {
      stop.abort()
      listeners.clear()
      await loop
    },
  }
}
