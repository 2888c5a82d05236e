/**
 * The runs that retry a run, newest first. None is named in the run itself, which does not change any more; but a retry has the owner and the
 * payload of what it retries, and payloads have an index.
 */

import type pg from 'pg'
import type { RunStatus } from '../run/status.ts'
import type { Retry } from './ports/search.ts'

/** More clicks than anybody makes. */
const RETRIES_MAX = 100

const RETRIES = `
SELECT n.id AS "runId", n.status, n.created_at AS "createdAt"
FROM model_runs r JOIN run_search s ON s.payload_hash = r.payload_hash AND s.owner = r.owner
  JOIN model_runs n ON n.id = s.run_id AND n.retry_of = r.id
WHERE r.id = $1 AND r.finished_at IS NOT NULL
ORDER BY n.created_at DESC, n.id DESC LIMIT ${RETRIES_MAX}`

type Row = { runId: string; status: RunStatus; createdAt: Date }

export async function listRetries(pool: pg.Pool, runId: string): Promise<Retry[]> {
  return (await pool.query<Row>(RETRIES, [runId])).rows
}
