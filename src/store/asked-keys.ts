/**
 * The concurrency keys that requests asked for, as events of their runs: the holds of a key end with its runs, and a retry asks for the same
 * again. What a model says is not recorded; it is asked again.
 */

import type pg from 'pg'
import type { AskedKey } from '../run/runs-per-key.ts'
import type { NewRun } from './store.ts'

// `name`, since what is called a key is hidden where events are shown.
const RECORD = `
WITH keyed AS (
  UPDATE model_runs r SET event_seq = r.event_seq + 1
  FROM unnest($1::uuid[], $2::jsonb[]) AS i(id, data) WHERE r.id = ANY (ARRAY[i.id])
  RETURNING r.id, r.event_seq, r.status, i.data
)
INSERT INTO run_events (run_id, seq, type, at, status, message, data)
SELECT id, event_seq, 'keyed', clock(), status, 'its request asks for a concurrency key', data FROM keyed`

/** For runs that this transaction has made. */
export async function recordAskedKeys(client: pg.ClientBase, runs: readonly NewRun[]): Promise<void> {
  const asked = runs.filter(({ concurrency }) => concurrency?.isAsked)
  if (asked.length === 0) return
  const data = asked.map(({ concurrency }) => {
    const { key, limit, mode } = concurrency!
    return JSON.stringify({ name: key, limit, mode })
  })
  await client.query({ name: 'record_asked_keys', text: RECORD, values: [asked.map(({ id }) => id), data] })
}

const READ = `SELECT data FROM run_events WHERE run_id = $1 AND type = 'keyed' ORDER BY seq LIMIT 1`

type Recorded = { name: string; limit: number; mode: AskedKey['mode'] }

export async function readAskedKey(pool: pg.Pool, runId: string): Promise<AskedKey | null> {
  const { rows } = await pool.query<{ data: Recorded }>({ name: 'read_asked_key', text: READ, values: [runId] })
  if (!rows[0]) return null
  const { name: key, limit, mode } = rows[0].data
  return { key, limit, mode }
}
