/**
 * The port to what has happened: the events of one run by their numbers, and the feed of the events of all runs.
 *
 * The feed follows commits. A reader that goes on from its cursor sees every event once, however late a slow writer
 * commits, and no writer that is open elsewhere holds it up. Nothing in the database knows of readers.
 */

import type { FeedCursor, FeedKey } from '../../run/feed-cursor.ts'
import type { Moment } from '../../run/moment.ts'
import type { RunStatus } from '../../run/status.ts'

export type RunEvent = {
  runId: string
  seq: number
  type: string
  at: Date
  status: RunStatus | null
  attempt: number | null
  workerId: string | null
  message: string | null
  data: unknown
}

/** With what filters ask for. */
export type FeedEvent = RunEvent & { xid: number; owner: string; model: string; queue: string }

/** Where the database stands now. */
export type FeedPlace = { cluster: string; atMs: number; moment: Moment }

/** What was committed after one moment and by another, behind `last` when given. */
export type FeedRange = { after: Moment; until: Moment; last: FeedKey | null }

export type FeedBatch = { events: FeedEvent[]; more: boolean }

export type FeedRead =
  /** `cursors` has the place behind each event, and `cursor` the one behind all that was looked at. */
  | { outcome: 'read'; events: FeedEvent[]; cursors: FeedCursor[]; cursor: FeedCursor; more: boolean }
  /**
   * The cursor belongs to another database, or to a time this one has not seen since it was restored. `cursor` is a
   * place safely before it: what was seen comes again, nothing is passed over.
   */
  | { outcome: 'lost'; cursor: FeedCursor }

export type EventPage = { owner: string; status: RunStatus; events: RunEvent[]; more: boolean }

export interface Feed {
  now(): Promise<FeedPlace>
  /** In the order of transaction, run and number. With `runIds` only events of those. */
  batch(range: FeedRange, options: { limit: number; runIds?: readonly string[] | null }): Promise<FeedBatch>
  read(cursor: FeedCursor, limit: number): Promise<FeedRead>
  /** The events of one run with numbers above `after`; null when there is no such run. */
  ofRun(runId: string, page: { after: number; limit: number }): Promise<EventPage | null>
  /** Keeps looks into the feed cheap after a rush of events. Doing it seldom, or not at all, costs time only. */
  tidy(): Promise<void>
}
