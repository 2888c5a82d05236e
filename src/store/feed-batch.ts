/**
 * The events that were committed between two moments, a page at a time.
 *
 * They belong to transactions of two kinds: those that were under way at the first moment and had ended at the second,
 * and those that began in between. Their numbers are looked up in stretches, each by one pass over a BRIN index, so
 * that a reader far behind sorts little at a time and a transaction that was open for an hour does not make it read
 * that hour again.
 */

import type pg from 'pg'
import type { FeedKey } from '../run/feed-cursor.ts'
import { hadEnded, type Moment } from '../run/moment.ts'
import { plainArray } from './array-literal.ts'
import type { FeedBatch, FeedEvent, FeedRange } from './ports/feed.ts'
import { type EventRow, eventOfRow } from './run-events.ts'

const READ_STRETCH = `
SELECT e.run_id, e.seq, e.type, e.at, e.status, e.attempt, e.worker_id, e.message, e.data, e.xid, r.owner, r.model, r.queue
FROM (
  SELECT * FROM run_events
  WHERE xid >= $1 AND xid < $2 AND (xid >= $3 OR xid = ANY ($4::bigint[])) AND xid <> ALL ($5::bigint[])
    AND (xid, run_id, seq) > ($6::bigint, $7::uuid, $8::int) AND ($9::uuid[] IS NULL OR run_id = ANY ($9))
  ORDER BY xid, run_id, seq LIMIT $10
) e LEFT JOIN model_runs r ON r.id = e.run_id
ORDER BY e.xid, e.run_id, e.seq`

/** Settings under which the statement above has one plan: the BRIN index, then the key of each run. */
export const FEED_SETTINGS = [
  'plan_cache_mode = force_generic_plan',
  'jit = off',
  'max_parallel_workers_per_gather = 0',
  ...['seqscan', 'indexscan', 'indexonlyscan', 'hashjoin', 'mergejoin'].map((shape) => `enable_${shape} = off`),
]

const STRETCH_FIRST = 2_048
const GAP_MAX = 1_024
const BEFORE_ALL: FeedKey = { xid: -1, runId: '00000000-0000-0000-0000-000000000000', seq: -1 }

type Row = EventRow & { run_id: string; seq: number; xid: number; owner: string | null; model: string; queue: string }

type Stretch = { from: number; to: number }

export async function readBatch(
  pool: pg.Pool,
  range: FeedRange,
  { limit, runIds = null }: { limit: number; runIds?: readonly string[] | null },
): Promise<FeedBatch> {
  const { after, until } = range
  const ended = after.xip.filter((xid) => hadEnded(until, xid))
  const events: FeedEvent[] = []
  let last = range.last ?? BEFORE_ALL
  let width = STRETCH_FIRST
  for (const { from, to } of stretchesOf(ended, after, until)) {
    let next = Math.max(from, last.xid)
    while (next < to) {
      const end = Math.min(to, next + width)
      const room = limit - events.length
      const rows = await readStretch(pool, [
        ...[next, end, after.xmax, plainArray(ended), plainArray(until.xip)],
        ...[last.xid, last.runId, last.seq, runIds && plainArray(runIds), room],
      ])
      // A run that retention has taken away in the meantime has no events either.
      for (const row of rows) if (row.owner !== null) events.push(feedEventOfRow(row, row.owner))
      if (rows.length === room) {
        const { xid, run_id: runId, seq } = rows.at(-1)!
        last = { xid, runId, seq }
        if (events.length === limit) return { events, more: true }
        continue
      }
      next = end
      width *= 2
    }
  }
  return { events, more: false }
}

/** Ascending. Old transactions that ended only now get a stretch each, unless they lie close to the next. */
export function stretchesOf(ended: readonly number[], after: Moment, until: Moment): Stretch[] {
  const stretches: Stretch[] = []
  for (const xid of ended) {
    const before = stretches.at(-1)
    if (before && xid - before.to <= GAP_MAX) before.to = xid + 1
    else stretches.push({ from: xid, to: xid + 1 })
  }
  if (until.xmax > after.xmax) {
    const before = stretches.at(-1)
    if (before && after.xmax - before.to <= GAP_MAX) before.to = until.xmax
    else stretches.push({ from: after.xmax, to: until.xmax })
  }
  return stretches
}

async function readStretch(pool: pg.Pool, values: unknown[]): Promise<Row[]> {
  return (await pool.query<Row>({ name: 'feed', text: READ_STRETCH, values })).rows
}

function feedEventOfRow(row: Row, owner: string): FeedEvent {
  return { ...eventOfRow(row.run_id, row.seq, row), xid: row.xid, owner, model: row.model, queue: row.queue }
}
