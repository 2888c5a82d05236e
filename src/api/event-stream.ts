/**
 * Server-sent events on the wire. A stream writes a heartbeat when it is silent, ends when its caller may no longer
 * read, and is cut when the other side reads too slowly: it can go on from its last id, and nothing is kept for it
 * without end.
 */

import { once } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../telemetry/log.ts'

export const EVENT_STREAM_TYPE = 'text/event-stream'
const RETRY_MS = 1_000

export type StreamOptions = {
  heartbeatMs: number
  /** So much may wait to be taken by one reader. */
  bufferBytesMax: number
  /** Asked with each heartbeat: whether the caller may still have what it asked for. */
  isStillAllowed(request: FastifyRequest): Promise<boolean> | boolean
  log: Log
}

export type EventStream = {
  isOpen(): boolean
  send(frame: string): void
  /** Waits until the reader has taken most of it, or is gone. */
  drained(): Promise<void>
  end(): void
  /** Called once, whoever ended it. */
  onClose(callback: () => void): void
  /** What a heartbeat tells beside its being there: the place to go on from. */
  setPlace(place: () => string | null): void
}

export type EventStreams = {
  /** From here on the answer is no longer the framework's: nothing may throw at it. */
  open(request: FastifyRequest, reply: FastifyReply): EventStream
  /** Ends all of them, so that their clients come back elsewhere. */
  close(): void
}

/** `event` is left out for ordinary events, so that a browser's `onmessage` gets them all. */
export function frameOf({ id, event, text }: { id: string; event?: string; text: string }): string {
  return `id: ${id}\n${event ? `event: ${event}\n` : ''}data: ${text}\n\n`
}

/** Sets the place a client goes on from without being an event. */
export function placeFrame(id: string): string {
  return `id: ${id}\n\n`
}

export function wantsEventStream(request: FastifyRequest): boolean {
  const { accept = '' } = request.headers
  return accept.split(',').some((range) => range.split(';', 1)[0]!.trim().toLowerCase() === EVENT_STREAM_TYPE)
}

export function createEventStreams(options: StreamOptions): EventStreams {
  const open = new Set<EventStream>()
  let isClosed = false
  return {
    open(request, reply) {
      const stream = openStream(request, reply, options)
      if (isClosed) stream.end()
      open.add(stream)
      stream.onClose(() => open.delete(stream))
      return stream
    },
    close() {
      isClosed = true
      for (const stream of open) stream.end()
    },
  }
}

function openStream(request: FastifyRequest, reply: FastifyReply, options: StreamOptions): EventStream {
  const { heartbeatMs, bufferBytesMax, isStillAllowed, log } = options
  reply.hijack()
  const { raw } = reply
  const { socket } = raw
  let place: () => string | null = () => null
  const isOpen = () => !raw.writableEnded && !raw.destroyed

  function send(frame: string): void {
    if (!isOpen()) return
    raw.write(frame)
    if (raw.writableLength <= bufferBytesMax) return
    log.info({ request_id: request.id, waiting_bytes: raw.writableLength }, 'a reader of events was too slow')
    raw.destroy()
  }

  async function beat(): Promise<void> {
    const id = place()
    send(id === null ? ': heartbeat\n\n' : `: heartbeat\n${placeFrame(id)}`)
    try {
      if (!(await isStillAllowed(request))) end()
    } catch (error) {
      // Who cannot be asked about now is asked about again with the next heartbeat.
      log.warn({ request_id: request.id, err: error }, 'a reader of events could not be checked')
    }
  }

  function end(): void {
    if (!isOpen()) return
    // The connection is not kept: at a shutdown it would hold up the listener, and elsewhere it is seldom used again.
    raw.end(() => socket?.destroySoon())
  }

  // A reader may have gone while its answer was being prepared.
  const onClose = (callback: () => void) => void (raw.closed ? queueMicrotask(callback) : raw.once('close', callback))
  const timer = setInterval(() => void beat(), heartbeatMs)
  onClose(() => clearInterval(timer))
  // A reader that is gone is no news; its stream closes.
  raw.on('error', () => {})
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(200, {
    'Content-Type': `${EVENT_STREAM_TYPE}; charset=utf-8`,
    'Cache-Control': 'private, no-cache, no-transform',
    // Proxies that gather answers would hold events back.
    'X-Accel-Buffering': 'no',
    'X-Content-Type-Options': 'nosniff',
  })
  raw.write(`retry: ${RETRY_MS}\n\n`)
  return {
    isOpen,
    send,
    end,
    async drained() {
      while (isOpen() && raw.writableNeedDrain) {
        const gone = new AbortController()
        const { signal } = gone
        await Promise.race([once(raw, 'drain', { signal }), once(raw, 'close', { signal })]).catch(() => {})
        gone.abort()
      }
    },
    onClose,
    setPlace(next) {
      place = next
    },
  }
}
