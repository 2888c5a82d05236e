/**
 * The feed of all events as a stream. A client that is behind reads from the database until it has come as far as the
 * follower of this process, and is handed live events from then on.
 *
 * The two meet at a moment, not at an event: what the client read up to the moment `joined` is left out of what is
 * live, and the ids it gets count from that moment, until the follower has passed it. So each event comes once, also to
 * a client that is cut off in between.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FeedReset } from '../contract/event.ts'
import { encodeCursor, type FeedCursor } from '../run/feed-cursor.ts'
import { hadEnded, isAtOrAfter, type Moment } from '../run/moment.ts'
import type { Feed, FeedEvent, FeedRead } from '../store/ports/feed.ts'
import { type EventStream, type EventStreams, frameOf, placeFrame } from './event-stream.ts'
import type { FeedFollower, LiveEvent } from './feed-follower.ts'
import type { PresentEvent } from './present-event.ts'

const PAGE = 500

export const LOST_DETAIL =
  'This database has not seen that place: it was restored or replaced. The feed goes on from before it; ' +
  'events seen already have the same run_id and seq.'

export type FeedStreamDeps = { feed: Feed; follower: FeedFollower; streams: EventStreams; present: PresentEvent }

export type FeedStreamRequest = {
  /** Null to begin now. */
  cursor: FeedCursor | null
  fits(event: FeedEvent): boolean
}

export async function streamFeed(
  { feed, follower, streams, present }: FeedStreamDeps,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { cursor: from, fits }: FeedStreamRequest,
): Promise<void> {
  let stream: EventStream | null = null
  let joined: Moment | null = null

  const listening = await follower.listen({
    runId: null,
    onEvent(live) {
      if (joined === null || hadEnded(joined, live.event.xid) || !fits(live.event)) return
      stream!.send(frameOf({ id: idFor(live, joined), text: live.text() }))
    },
    onMoved: () => stream?.end(),
  })

  try {
    let cursor = from ?? (await placeNow(feed))
    // What can fail does so before the answer begins.
    let read: FeedRead | null = from && (await feed.read(cursor, PAGE))
    stream = streams.open(request, reply)
    stream.onClose(listening.close)
    stream.send(placeFrame(encodeCursor(cursor)))
    stream.setPlace(() => placeOf(follower, cursor, joined))
    while (stream.isOpen()) {
      if (read) cursor = send(stream, read)
      const latest = follower.latest()
      const isFar = read?.outcome === 'lost' || (read?.outcome === 'read' && read.more)
      if (!isFar && latest && cursor.batch === null && isAtOrAfter(cursor.after, latest)) {
        joined = cursor.after
        return
      }
      await stream.drained()
      read = await feed.read(cursor, PAGE)
    }
  } catch (error) {
    listening.close()
    if (stream === null) throw error
    // The answer has begun, so the error cannot be told; the client comes back with its last id.
    stream.end()
  }

  function send(to: EventStream, read: FeedRead): FeedCursor {
    if (read.outcome === 'lost') {
      const reset: FeedReset = { code: 'cursor-lost', detail: LOST_DETAIL }
      to.send(frameOf({ id: encodeCursor(read.cursor), event: 'reset', text: JSON.stringify(reset) }))
      return read.cursor
    }
    for (const [index, event] of read.events.entries()) {
      if (!fits(event)) continue
      to.send(frameOf({ id: encodeCursor(read.cursors[index]!), text: JSON.stringify(present(event)) }))
    }
    return read.cursor
  }
}

export async function placeNow(feed: Feed): Promise<FeedCursor> {
  const { cluster, atMs, moment } = await feed.now()
  return { cluster, atMs, after: moment, batch: null }
}

/** The follower's own place behind the event, unless it has not yet passed the moment this client has read up to. */
function idFor(live: LiveEvent, joined: Moment): string {
  return isAtOrAfter(live.cursor.after, joined) ? live.id() : encodeCursor({ ...live.cursor, after: joined })
}

/** For a client whose filter lets little through: it need not go far back after a break. */
function placeOf(follower: FeedFollower, read: FeedCursor, joined: Moment | null): string | null {
  if (joined === null) return null
  const position = follower.position()
  if (position === null) return null
  return encodeCursor(isAtOrAfter(position.after, joined) ? position : read)
}
