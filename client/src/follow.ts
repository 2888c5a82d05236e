/**
 * A stream of the service that goes on for long: opened again behind the last message whenever it breaks, ends early or falls silent.
 * Where streaming is not possible, because the platform has no readable bodies or something between buffers or refuses them, `poll` is
 * asked instead.
 *
 * Once it has been reached, the service may be away for `patienceMs` (a restart, a deployment) before the follower gives up.
 */

import { HoldfastError, MaxRetriesExceeded } from './errors.ts'
import { SILENCE_MS_MAX, within } from './silence.ts'
import { type ServerEvent, ServerEventReader } from './sse.ts'
import type { CallOptions, Query, Transport } from './transport.ts'

const POLL_MS = 1_000
const RECONNECT_MS_MIN = 250
const RECONNECT_MS_MAX = 10_000
const PATIENCE_MS = 5 * 60_000

export type FollowOptions = CallOptions & {
  /** How long the service may be out of reach; 5 minutes when not given. */
  patienceMs?: number
  /** Told `true` whenever the service is heard again, `false` when the connection is lost. */
  onConnection?: (isConnected: boolean) => void
}

export type Followed = {
  path: string
  query?: Query
  /** The id of the last message seen, to begin behind it. */
  lastId?: string | null
  /** What has come behind `lastId`, and the id to go on from; `isOver` when nothing more will come. */
  poll(lastId: string | null): Promise<{ messages: ServerEvent[]; lastId: string | null; isOver?: boolean }>
  /** It has an end: an answer 204 says that nothing more will come. */
  endsWith204?: boolean
}

/** Ends by `return`, by an abort, with an error that waiting does not help, or when nothing more will come. */
export async function* follow(
  transport: Transport,
  followed: Followed,
  options: FollowOptions,
): AsyncGenerator<ServerEvent, void, void> {
  const { signal, timeoutMs, patienceMs = PATIENCE_MS, onConnection } = options
  const { clock } = transport
  let isConnected: boolean | null = null
  let lastId = followed.lastId ?? null
  let isStreaming = true
  let isOver = false
  let heardMs: number | null = null
  let failures = 0

  const tell = (now: boolean) => {
    if (now !== isConnected) onConnection?.(now)
    isConnected = now
  }

  const hear = () => {
    heardMs = clock.nowMs()
    failures = 0
    tell(true)
  }

  async function* stream(): AsyncGenerator<ServerEvent, void, void> {
    const headers = { Accept: 'text/event-stream', ...(lastId !== null && { 'Last-Event-ID': lastId }) }
    const { path, query } = followed
    const response = await transport.open({ method: 'GET', path, query, headers, repeat: 'always', signal, timeoutMs })
    const { body } = response
    if (!body || response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
      isStreaming = response.status === 204
      isOver = isStreaming && followed.endsWith204 === true
      await body?.cancel()
      return
    }
    hear()
    const reader = new ServerEventReader(body)
    try {
      for (;;) {
        const messages = await within(reader.next(), SILENCE_MS_MAX, signal)
        if (messages === null) return
        hear()
        for (const message of messages) {
          // Who leaves at this message has had it: the place moves first.
          lastId = message.id ?? lastId
          yield message
        }
        lastId = reader.lastId ?? lastId
      }
    } finally {
      reader.cancel()
    }
  }

  async function* page(): AsyncGenerator<ServerEvent, void, void> {
    const polled = await followed.poll(lastId)
    hear()
    yield* polled.messages
    lastId = polled.lastId
    isOver = polled.isOver === true
  }

  for (;;) {
    const wasStreaming = isStreaming
    try {
      yield* wasStreaming ? stream() : page()
    } catch (fault) {
      signal?.throwIfAborted()
      tell(false)
      const isRefusal = fault instanceof HoldfastError && !(fault instanceof MaxRetriesExceeded)
      if (isRefusal || heardMs === null) throw fault
      failures += 1
      if (clock.nowMs() - heardMs > patienceMs) throw fault
    }
    if (isOver) return
    // What cannot be streamed is asked for at once.
    if (wasStreaming && !isStreaming) continue
    const backoffMs = Math.min(RECONNECT_MS_MAX, RECONNECT_MS_MIN * 2 ** failures)
    await clock.sleep(isStreaming ? backoffMs : Math.max(POLL_MS, backoffMs), signal)
  }
}
