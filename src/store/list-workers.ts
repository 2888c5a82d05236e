/** The workers, the latest started first: who is live, who fell silent without a word, who stopped, and what each executes now. */

import type pg from 'pg'
import { RUNNING } from './list-queues.ts'
import { foreignCursor } from './name-cursor.ts'
import type { PageAsked, PageOf, WorkerEntry, WorkerState } from './ports/directory.ts'
import { IS_LIVE } from './waiting.ts'

const WORKERS = `
WITH told AS MATERIALIZED (
  SELECT w.*, CASE WHEN w.stopped_at IS NOT NULL THEN 'stopped' WHEN ${IS_LIVE} THEN 'live' ELSE 'silent' END AS state,
    (extract(epoch FROM w.started_at) * 1000000)::bigint AS started_at_us
  FROM workers w
), running AS (
  SELECT lease_owner, count(*)::int AS runs FROM (${RUNNING}) r GROUP BY lease_owner
)
SELECT t.worker_id, t.host, t.pid, t.version, t.queues, t.models, t.concurrency, t.queue_limits, t.model_limits, t.started_at,
  t.last_seen_at, t.stopped_at, t.state, t.started_at_us, COALESCE(running.runs, 0) AS running
FROM told t LEFT JOIN running ON running.lease_owner = t.worker_id
WHERE ($1::text IS NULL OR t.state = $1) AND ($2::bigint IS NULL OR (t.started_at_us, t.worker_id) < ($2, $3))
ORDER BY t.started_at_us DESC, t.worker_id DESC LIMIT $4`

const CURSOR = /^(\d{1,16})\.(.{1,300})$/

type WorkerRow = {
  worker_id: string
  host: string
  pid: number
  version: string
  queues: string[]
  models: string[]
  concurrency: number
  queue_limits: Record<string, number>
  model_limits: Record<string, number>
  started_at: Date
  last_seen_at: Date
  stopped_at: Date | null
  state: WorkerState
  started_at_us: number
  running: number
}

export async function listWorkers(
  pool: pg.Pool,
  { limit, cursor, state }: PageAsked & { state: WorkerState | null },
): Promise<PageOf<WorkerEntry>> {
  const after = cursor === null ? null : decodeCursor(cursor)
  const { rows } = await pool.query<WorkerRow>(WORKERS, [
    state,
    after?.startedAtUs ?? null,
    after?.workerId ?? null,
    limit + 1,
  ])
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor =
    rows.length > limit && last ? Buffer.from(`${last.started_at_us}.${last.worker_id}`).toString('base64url') : null
  return { items: shown.map(entryOfRow), nextCursor }
}

function decodeCursor(cursor: string): { startedAtUs: number; workerId: string } {
  const match = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('utf8'))
  if (!match || match[2]!.includes('\0')) throw foreignCursor()
  return { startedAtUs: Number(match[1]), workerId: match[2]! }
}

function entryOfRow(row: WorkerRow): WorkerEntry {
  return {
    workerId: row.worker_id,
    host: row.host,
    pid: row.pid,
    version: row.version,
    queues: row.queues,
    models: row.models,
    concurrency: row.concurrency,
    queueLimits: row.queue_limits,
    modelLimits: row.model_limits,
    running: row.running,
    startedAt: row.started_at,
    lastSeenAt: row.last_seen_at,
    stoppedAt: row.stopped_at,
    state: row.state,
  }
}
