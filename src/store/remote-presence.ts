/** Remote workers show up beside our own, so that operators see them and waiting runs can say who could take them. */

import type pg from 'pg'
import type { RemoteWorker } from './ports/remote.ts'

const SEEN = `
WITH served AS (
  INSERT INTO queues (queue) SELECT q FROM unnest($5::text[]) AS q ORDER BY 1 ON CONFLICT DO NOTHING
)
INSERT INTO workers (worker_id, host, pid, version, queues, models, concurrency)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (worker_id) DO UPDATE SET last_seen_at = clock(), stopped_at = NULL, host = excluded.host, pid = excluded.pid,
  version = excluded.version, queues = excluded.queues, models = excluded.models, concurrency = excluded.concurrency,
  started_at = CASE WHEN workers.stopped_at IS NULL AND workers.host = excluded.host AND workers.pid = excluded.pid
    THEN workers.started_at ELSE clock() END`

// The job of an engine beats too; that says nothing about the worker of ours that holds its lease.
const HOLDER_SEEN = `
UPDATE workers w SET last_seen_at = clock(), stopped_at = NULL FROM model_runs r
WHERE r.id = $1 AND w.worker_id = r.lease_owner AND w.worker_id LIKE 'remote:%'
  AND w.last_seen_at < clock() - interval '10 seconds'`

export async function remoteSeen(pool: pg.Pool, worker: RemoteWorker): Promise<void> {
  const { workerId, host, pid, version, queues, models, concurrency } = worker
  await pool.query({
    name: 'remote_seen',
    text: SEEN,
    values: [workerId, host, pid, version, queues, models, concurrency],
  })
}

export async function holderSeen(pool: pg.Pool, runId: string): Promise<void> {
  await pool.query({ name: 'holder_seen', text: HOLDER_SEEN, values: [runId] })
}
