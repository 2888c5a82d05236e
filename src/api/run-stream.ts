/**
 * The events of one run as a stream: first those in the database, then each as it is committed, in the order of their
 * numbers. The stream ends behind the event that ends the run.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { isTerminal } from '../run/status.ts'
import type { EventPage, Feed, RunEvent } from '../store/ports/feed.ts'
import { type EventStream, type EventStreams, frameOf } from './event-stream.ts'
import type { FeedFollower, LiveEvent } from './feed-follower.ts'
import type { PresentEvent } from './present-event.ts'

const PAGE = 500

export type RunStreamDeps = { feed: Feed; follower: FeedFollower; streams: EventStreams; present: PresentEvent }

export type RunStreamRequest = {
  runId: string
  after: number
  /** Throws when the run is not there for this caller. */
  check(page: EventPage | null): EventPage
}

/** Answers false when there is nothing to stream, now or ever: the run has ended and the caller has seen all of it. */
export async function streamRun(
  { feed, follower, streams, present }: RunStreamDeps,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { runId, after, check }: RunStreamRequest,
): Promise<boolean> {
  /**
   * Transactions are handed out in another order than they changed this run, so an event may wait for the one before.
   */
  const early = new Map<number, LiveEvent>()
  let last = after
  let stream: EventStream | null = null
  let isLive = false

  const listening = await follower.listen({
    runId,
    onEvent(live) {
      if (live.event.seq > last) early.set(live.event.seq, live)
      if (isLive) flush()
    },
    onMoved: () => stream?.end(),
  })

  function send(event: RunEvent, text: string): void {
    last = event.seq
    stream!.send(frameOf({ id: String(event.seq), text }))
  }

  function flush(): void {
    for (let live = early.get(last + 1); live; live = early.get(last + 1)) {
      early.delete(live.event.seq)
      send(live.event, live.text())
      // After its end nothing is sent any more.
      if (live.event.status !== null && isTerminal(live.event.status)) stream!.end()
    }
  }

  try {
    let page = check(await feed.ofRun(runId, { after, limit: PAGE }))
    if (page.events.length === 0 && isTerminal(page.status)) {
      listening.close()
      return false
    }
    stream = streams.open(request, reply)
    stream.onClose(listening.close)
    for (;;) {
      for (const event of page.events) send(event, JSON.stringify(present(event)))
      if (!page.more || !stream.isOpen()) break
      await stream.drained()
      page = check(await feed.ofRun(runId, { after: last, limit: PAGE }))
    }
    if (isTerminal(page.status)) stream.end()
    isLive = true
    flush()
    return true
  } catch (error) {
    listening.close()
    if (stream === null) throw error
    // The answer has begun, so the error cannot be told; the client comes back with its last id.
    stream.end()
    return true
  }
}
