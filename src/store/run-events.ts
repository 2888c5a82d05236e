/** The events of one run, in the order of their numbers. */

import type pg from 'pg'
import type { RunStatus } from '../run/status.ts'
import type { EventPage, RunEvent } from './ports/feed.ts'

// One statement, hence one snapshot: a run shown as finished comes with the event that finished it.
const READ_RUN_EVENTS = `
SELECT r.owner, r.status AS run_status, e.*
FROM model_runs r LEFT JOIN LATERAL (
  SELECT seq, type, at, status, attempt, worker_id, message, data FROM run_events
  WHERE run_id = r.id AND seq > $2 ORDER BY seq LIMIT $3
) e ON true
WHERE r.id = $1
ORDER BY e.seq`

/** What every reader of events gets of one. */
export type EventRow = {
  type: string
  at: Date
  status: RunStatus | null
  attempt: number | null
  worker_id: string | null
  message: string | null
  data: unknown
}

/** `seq` is null, like the rest of the event, when there are no events to show. */
type Row = EventRow & { owner: string; run_status: RunStatus; seq: number | null }

export async function readRunEvents(
  pool: pg.Pool,
  runId: string,
  { after, limit }: { after: number; limit: number },
): Promise<EventPage | null> {
  const values = [runId, after, limit + 1]
  const { rows } = await pool.query<Row>({ name: 'run_events', text: READ_RUN_EVENTS, values })
  const first = rows[0]
  if (!first) return null
  const events = rows.flatMap((row) => (row.seq === null ? [] : [eventOfRow(runId, row.seq, row)]))
  return {
    owner: first.owner,
    status: first.run_status,
    events: events.slice(0, limit),
    more: events.length > limit,
  }
}

export function eventOfRow(runId: string, seq: number, row: EventRow): RunEvent {
  return {
    runId,
    seq,
    type: row.type,
    at: row.at,
    status: row.status,
    attempt: row.attempt,
    workerId: row.worker_id,
    message: row.message,
    data: row.data,
  }
}
