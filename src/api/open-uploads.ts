/**
 * The requests whose bytes this process is taking. At a shutdown their connections are cut, and what has arrived is kept
 * before the store closes; their clients go on elsewhere.
 */

import type { IncomingMessage } from 'node:http'

export type OpenUploads = {
  during<T>(request: IncomingMessage, work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

export function createOpenUploads(): OpenUploads {
  const open = new Map<IncomingMessage, Promise<unknown>>()
  let isClosed = false
  return {
    async during(request, work) {
      if (isClosed) request.destroy()
      const done = work()
      open.set(request, done)
      try {
        return await done
      } finally {
        open.delete(request)
      }
    },
    async close() {
      isClosed = true
      const underWay = [...open.values()]
      for (const request of open.keys()) request.destroy()
      await Promise.allSettled(underWay)
    },
  }
}
