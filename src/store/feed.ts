/**
 * The feed on Postgres: reading on from a cursor, on a connection of its own, and what to do with a cursor that means
 * nothing here.
 */

import type pg from 'pg'
import type { FeedCursor } from '../run/feed-cursor.ts'
import { isAtOrAfter, momentBefore } from '../run/moment.ts'
import { readBatch } from './feed-batch.ts'
import { createNow } from './feed-place.ts'
import { isInsufficientPrivilege, isLockTimeout } from './pg-errors.ts'
import type { Feed, FeedPlace, FeedRead } from './ports/feed.ts'
import { readRunEvents } from './run-events.ts'

/** How far before its time a lost cursor is picked up again: longer than any of our transactions takes. */
const LOST_MARGIN_MS = 300_000

const FIRST_XID_SINCE = 'SELECT min(xid) AS xid FROM run_events WHERE at >= to_timestamp($1) AND xid < $2'

/**
 * Cannot be a parameter of anything but a call. Only whole ranges get entries, so that writing an event never changes
 * one.
 */
const TIDY = `SELECT brin_summarize_new_values('idx_events_xid')`

export type FeedOptions = {
  /** With the settings of `FEED_SETTINGS`. */
  feedPool: pg.Pool
  /** For ordinary reads by key. */
  reads: pg.Pool
  /** Turns a lost connection into a refusal. */
  answered<T>(asked: Promise<T>): Promise<T>
}

export function createFeed({ feedPool, reads, answered }: FeedOptions): Feed {
  const now = createNow(feedPool)

  async function read(cursor: FeedCursor, limit: number): Promise<FeedRead> {
    const place = await now()
    if (isLost(cursor, place)) return { outcome: 'lost', cursor: await safelyBefore(cursor, place) }
    const { cluster } = cursor
    // A batch that was begun is finished first: its order is the order of what was delivered of it.
    const until = cursor.batch?.until ?? place.moment
    const { events, more } = await readBatch(
      feedPool,
      { after: cursor.after, until, last: cursor.batch?.last ?? null },
      { limit },
    )
    const cursors = events.map((event) => {
      const { xid, runId, seq } = event
      return { cluster, atMs: event.at.getTime(), after: cursor.after, batch: { until, last: { xid, runId, seq } } }
    })
    if (more) return { outcome: 'read', events, cursors, cursor: cursors.at(-1)!, more }
    const atMs = cursor.batch ? cursor.atMs : place.atMs
    return {
      outcome: 'read',
      events,
      cursors,
      cursor: { cluster, atMs, after: until, batch: null },
      more: cursor.batch !== null,
    }
  }

  async function safelyBefore(cursor: FeedCursor, { cluster, moment, atMs: nowMs }: FeedPlace): Promise<FeedCursor> {
    const atMs = Math.max(0, Math.min(cursor.atMs, nowMs) - LOST_MARGIN_MS)
    const { rows } = await feedPool.query<{ xid: number | null }>(FIRST_XID_SINCE, [atMs / 1_000, moment.xmax])
    const first = rows[0]!.xid
    return { cluster, atMs, after: first === null ? moment : momentBefore(first, moment), batch: null }
  }

  return {
    now: () => answered(now()),
    batch: (range, options) => answered(readBatch(feedPool, range, options)),
    read: (cursor, limit) => answered(read(cursor, limit)),
    ofRun: (runId, page) => answered(readRunEvents(reads, runId, page)),
    async tidy() {
      try {
        await feedPool.query(TIDY)
      } catch (error) {
        // A vacuum is at it, or another process; or the tables belong to another role, whose vacuum will do it.
        if (!isLockTimeout(error) && !isInsufficientPrivilege(error)) throw error
      }
    },
  }
}

function isLost(cursor: FeedCursor, { cluster, moment }: FeedPlace): boolean {
  if (cursor.cluster !== cluster) return true
  if (!cursor.batch) return !isAtOrAfter(moment, cursor.after)
  return !isAtOrAfter(moment, cursor.batch.until) || !isAtOrAfter(cursor.batch.until, cursor.after)
}
