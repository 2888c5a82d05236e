/**
 * The log of one run as a stream: first what is there, then each piece as it is written, in the order of their numbers. What an attempt
 * printed is written before the attempt ends, so when the run has ended and everything is sent, the stream ends.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LogObject } from '../contract/log.ts'
import { isTerminal } from '../run/status.ts'
import type { AttemptLogs, StoredPiece } from '../store/ports/attempt-logs.ts'
import type { EventPage, Feed } from '../store/ports/feed.ts'
import { type EventStream, type EventStreams, frameOf } from './event-stream.ts'
import type { FeedFollower } from './feed-follower.ts'
import type { LogFollower } from './log-follower.ts'
import { NO_EVENTS } from './visible-run.ts'

const PAGE = 100

export type LogStreamDeps = {
  feed: Feed
  logs: Pick<AttemptLogs, 'read'>
  follower: FeedFollower
  logFollower: LogFollower
  streams: EventStreams
}

export type LogStreamRequest = {
  runId: string
  attempt: number | null
  after: number
  /** Throws when the run is not there for this caller. */
  check(page: EventPage | null): EventPage
}

/** Answers false when there is nothing to stream, now or ever. */
export async function streamLog(
  { feed, logs, follower, logFollower, streams }: LogStreamDeps,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { runId, attempt, after, check }: LogStreamRequest,
): Promise<boolean> {
  let stream: EventStream | null = null
  let last = after
  let isOver = false
  let onOver: (() => void) | null = null
  const closers: (() => void)[] = []
  const close = () => {
    for (const closer of closers.splice(0)) closer()
  }

  function send(pieces: StoredPiece[]): void {
    for (const piece of pieces) {
      if (piece.no <= last) continue
      last = piece.no
      if (attempt === null || piece.attempt === attempt)
        stream!.send(frameOf({ id: String(piece.no), text: JSON.stringify(logObject(piece)) }))
    }
  }

  async function sendAll(page = { pieces: [] as StoredPiece[], next: last as number | null }): Promise<void> {
    send(page.pieces)
    for (let next = page.next; next !== null && stream!.isOpen(); ) {
      await stream!.drained()
      const more = await logs.read(runId, { attempt: null, after: last, limit: PAGE })
      send(more.pieces)
      next = more.next
    }
  }

  async function finish(): Promise<void> {
    await sendAll().catch(() => {})
    stream!.end()
  }

  try {
    const listening = await follower.listen({
      runId,
      onEvent({ event }) {
        if (event.status === null || !isTerminal(event.status)) return
        isOver = true
        onOver?.()
      },
      onMoved: () => stream?.end(),
    })
    closers.push(() => listening.close())
    const { status } = check(await feed.ofRun(runId, NO_EVENTS))
    const first = await logs.read(runId, { attempt: null, after, limit: PAGE })
    if (first.pieces.length === 0 && isTerminal(status)) {
      close()
      return false
    }
    stream = streams.open(request, reply)
    stream.onClose(close)
    await sendAll(first)
    if (isTerminal(status)) stream.end()
    else if (isOver) await finish()
    else {
      onOver = () => void finish()
      closers.push(logFollower.listen({ runId, last: () => last, onPieces: send }))
    }
    return true
  } catch (error) {
    close()
    if (stream === null) throw error
    // The answer has begun, so the error cannot be told; the client comes back with its last id.
    stream.end()
    return true
  }
}

export function logObject({ no, attempt, at, stream, text }: StoredPiece): LogObject {
  return { no, attempt, at: at.toISOString(), stream, text }
}
