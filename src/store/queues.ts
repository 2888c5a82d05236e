/** Queues: paused or not, their retry defaults, and how many runs wait in each. */

import type pg from 'pg'
import type { QueueState } from './store.ts'

const SET_PAUSED = `
INSERT INTO queues (queue, paused) VALUES ($1, $2)
ON CONFLICT (queue) DO UPDATE SET paused = excluded.paused, updated_at = clock()`

// Counting stops at a limit per lane: a depth gauge must not read a million rows at each scrape.
const DEPTHS = `
SELECT l.queue, sum(d.waiting)::int AS pending
FROM lanes l CROSS JOIN LATERAL (
  SELECT count(*) AS waiting FROM (SELECT FROM model_runs r WHERE r.lane = l.lane AND r.status = 'PENDING' LIMIT $1) counted
) d
GROUP BY l.queue ORDER BY l.queue`

export const DEPTH_MAX_PER_LANE = 10_000

export async function readQueues(pool: pg.Pool): Promise<QueueState[]> {
  const { rows } = await pool.query<QueueState>('SELECT queue, paused, retry FROM queues ORDER BY queue')
  return rows
}

export async function setQueuePaused(pool: pg.Pool, queue: string, paused: boolean): Promise<void> {
  await pool.query(SET_PAUSED, [queue, paused])
}

export async function queueDepths(pool: pg.Pool): Promise<{ queue: string; pending: number }[]> {
  const { rows } = await pool.query<{ queue: string; pending: number }>(DEPTHS, [DEPTH_MAX_PER_LANE])
  return rows
}
