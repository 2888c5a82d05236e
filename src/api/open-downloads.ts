/** Downloads under way. A service that stops lets them go on for a moment and then breaks them off: a slow reader does not hold it up for long. */

import type { Readable } from 'node:stream'

const GRACE_MS = 5_000

export type OpenDownloads = { add(stream: Readable): void; close(): void }

/** A reader that is cut off knows by `Content-Length` that something is missing. */
export function createOpenDownloads(graceMs = GRACE_MS): OpenDownloads {
  const open = new Set<Readable>()
  return {
    add(stream) {
      open.add(stream)
      stream.once('close', () => open.delete(stream))
    },
    close() {
      const breakOff = () => {
        for (const stream of open) stream.destroy(new Error('the service is shutting down'))
      }
      setTimeout(breakOff, graceMs).unref()
    },
  }
}
