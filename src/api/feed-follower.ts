/**
 * Follows the feed once for this process and hands each event to everyone here who waits for it: streams and long
 * polls.
 *
 * It asks the database only while somebody listens, and as often for a thousand listeners as for one. Its promise to a
 * listener: once `listen` has answered, every event that a read begun afterwards does not see will be handed over. A
 * failed look is repeated from the same place. When the database is no longer the same one the listeners are told and
 * let go.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { Refusal } from '../run/errors.ts'
import { encodeCursor, type FeedCursor, type FeedKey } from '../run/feed-cursor.ts'
import { isAtOrAfter, isSameMoment, type Moment } from '../run/moment.ts'
import type { Feed, FeedEvent, FeedPlace } from '../store/ports/feed.ts'
import type { Log } from '../telemetry/log.ts'

const PAGE = 1_000
const TIDY_MS = 10_000
const FAILED_PAUSE_MS_MAX = 5_000
/** With more runs than this, events are sorted out here and not in the database. */
const NAMED_RUNS_MAX = 2_000
export const LISTENERS_MAX = 10_000

export type LiveEvent = {
  event: FeedEvent
  /** The place behind the event, in a feed that has everything before it. */
  cursor: FeedCursor
  /** Made once, however many listeners ask. */
  id(): string
  text(): string
}

export type FeedListener = {
  /** Null for every run. */
  runId: string | null
  onEvent(live: LiveEvent): void
  /** Nothing more will come. */
  onMoved(): void
}

export type FeedFollower = {
  listen(listener: FeedListener): Promise<{ close(): void }>
  /** The latest moment up to which events were, or are being, handed out. */
  latest(): Moment | null
  /** The place behind everything handed out; null in the middle of it. */
  position(): FeedCursor | null
  listeners(): number
  close(): Promise<void>
}

export type FollowerOptions = {
  feed: Feed
  log: Log
  pollMs: number
  /** An event as text, the same for every listener. */
  render(event: FeedEvent): string
}

export function createFeedFollower({ feed, log, pollMs, render }: FollowerOptions): FeedFollower {
  const everything = new Set<FeedListener>()
  const byRun = new Map<string, Set<FeedListener>>()
  const stop = new AbortController()
  let count = 0
  let place: FeedPlace | null = null
  /** The batch that is being handed out. */
  let open: { until: FeedPlace; last: FeedKey | null } | null = null
  let started = start()
  let loop: Promise<void> | null = null
  let tidyAt = 0

  async function follow(): Promise<void> {
    let failures = 0
    while (count > 0 && !stop.signal.aborted) {
      try {
        await look()
        failures = 0
      } catch (error) {
        failures += 1
        if (failures === 1) log.warn({ err: error }, 'events could not be read')
        if (place === null) failToStart(error)
      }
      const pauseMs = Math.min(Math.max(pollMs, FAILED_PAUSE_MS_MAX), pollMs * 2 ** failures)
      await delay(pauseMs * (0.75 + Math.random() / 2), null, { signal: stop.signal }).catch(() => {})
    }
    place = null
    open = null
    started = start()
    loop = null
  }

  async function look(): Promise<void> {
    if (open === null) {
      const now = await feed.now()
      if (place === null) {
        place = now
        started.resolve()
        return
      }
      if (now.cluster !== place.cluster || !isAtOrAfter(now.moment, place.moment)) return letGo()
      if (!isSameMoment(now.moment, place.moment)) open = { until: now, last: null }
    }
    if (open !== null) await handOut(place!, open)
    if (performance.now() > tidyAt) {
      tidyAt = performance.now() + TIDY_MS
      await feed.tidy()
    }
  }

  async function handOut(from: FeedPlace, batch: NonNullable<typeof open>): Promise<void> {
    for (let more = true; more; ) {
      // Who comes to listen after this moment was taken reads what it has by itself, so the runs are named only now.
      const runIds = everything.size > 0 || byRun.size > NAMED_RUNS_MAX ? null : [...byRun.keys()]
      if (runIds?.length === 0) break
      const range = { after: from.moment, until: batch.until.moment, last: batch.last }
      const found = await feed.batch(range, { limit: PAGE, runIds })
      for (const event of found.events) hand(event, from, batch)
      more = found.more
    }
    place = batch.until
    open = null
  }

  function hand(event: FeedEvent, from: FeedPlace, batch: NonNullable<typeof open>): void {
    const { xid, runId, seq } = event
    const last = { xid, runId, seq }
    batch.last = last
    const ofRun = byRun.get(runId)
    if (!ofRun && everything.size === 0) return
    const cursor = {
      cluster: from.cluster,
      atMs: event.at.getTime(),
      after: from.moment,
      batch: { until: batch.until.moment, last },
    }
    let id: string | null = null
    let text: string | null = null
    const live = {
      event,
      cursor,
      id: () => (id ??= encodeCursor(cursor)),
      text: () => (text ??= render(event)),
    }
    for (const listener of [...(ofRun ?? []), ...everything]) {
      try {
        listener.onEvent(live)
      } catch (error) {
        log.error({ err: error, run_id: runId }, 'a listener failed')
      }
    }
  }

  function failToStart(error: unknown): void {
    const { reject } = started
    started = start()
    reject(error)
  }

  /** The numbers of the database mean something else now; whoever goes on must begin anew. */
  function letGo(): void {
    log.warn({}, 'the database is another one than before; readers of events begin anew')
    const all = [...everything, ...[...byRun.values()].flatMap((set) => [...set])]
    place = null
    started = start()
    for (const listener of all) listener.onMoved()
  }

  function add(listener: FeedListener): () => void {
    const { runId } = listener
    const set = runId === null ? everything : (byRun.get(runId) ?? new Set())
    if (runId !== null) byRun.set(runId, set)
    set.add(listener)
    count += 1
    return () => {
      if (!set.delete(listener)) return
      count -= 1
      if (runId !== null && set.size === 0 && byRun.get(runId) === set) byRun.delete(runId)
    }
  }

  return {
    async listen(listener) {
      if (stop.signal.aborted) throw new Refusal('shutting-down', 'The service is shutting down.')
      if (count >= LISTENERS_MAX) throw new Refusal('busy', `${LISTENERS_MAX} requests wait for events already.`)
      const close = add(listener)
      loop ??= follow()
      // Without a place only the first look tells one, and when it fails nobody waits for the next.
      const { promise } = started
      try {
        if (place === null) await promise
      } catch (error) {
        close()
        throw error
      }
      return { close }
    },
    latest: () => open?.until.moment ?? place?.moment ?? null,
    position() {
      if (place === null || open !== null) return null
      return { cluster: place.cluster, atMs: place.atMs, after: place.moment, batch: null }
    },
    listeners: () => count,
    async close() {
      stop.abort()
      failToStart(new Refusal('shutting-down', 'The service is shutting down.'))
      await loop
    },
  }
}

function start(): PromiseWithResolvers<void> {
  const started = Promise.withResolvers<void>()
  // Nobody may be waiting when it fails.
  started.promise.catch(() => {})
  return started
}
