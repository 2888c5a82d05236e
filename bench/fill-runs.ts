/**
 * Fills the tables of Holdfast with a past: runs that wait, or runs that are finished with their attempts, events and
 * results, exactly the rows the service leaves behind. Secondary indexes are taken away before and built again after,
 * which is many times quicker and ends in the same state.
 */

import pg from 'pg'
import type { Place } from './contender.ts'

/** Ids and times as if the runs had come one every few milliseconds until an hour ago. */
export const PAST = (count: number) => `
CREATE TEMP TABLE past AS
SELECT i AS n, at, h || h AS payload_hash,
  (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0')
    || '7' || substr(h, 1, 3) || '8' || substr(h, 4, 15))::uuid AS id
FROM (
  SELECT i, md5('past ' || i) AS h,
    statement_timestamp() - interval '1 hour' - (${count} - i) * interval '20 milliseconds' AS at
  FROM generate_series(1, ${count}) AS i
) s`

const LANE = `
INSERT INTO lanes (queue, model, model_version, priority) VALUES ('default', 'noop', '1', 0) ON CONFLICT DO NOTHING`

const COLUMNS = `id, owner, model, model_version, queue, priority, lane, executor, parameters, payload_hash, seed,
  created_at, available_at, timeout_seconds, max_attempts`
const VALUES = `id, 'default', 'noop', '1', 'default', 0, (SELECT lane FROM lanes WHERE model = 'noop'), 'inline',
  jsonb_build_object('n', -n), payload_hash, n, at, at, 86400, 3`

const PENDING_RUNS = `INSERT INTO model_runs (${COLUMNS}, event_seq) SELECT ${VALUES}, 1 FROM past ORDER BY n`
const CREATED = `
INSERT INTO run_events (run_id, seq, type, at, status) SELECT id, 1, 'created', at, 'PENDING' FROM past ORDER BY n`

const FINISHED_RUNS = `
INSERT INTO model_runs (${COLUMNS}, event_seq, status, started_at, finished_at, attempt_count, lease_epoch,
  heartbeat_at, result_ref, result_hash)
SELECT ${VALUES}, 3, 'SUCCEEDED', at, at, 1, 1, at, 'inline', encode(sha256('null'), 'hex') FROM past ORDER BY n`
const ATTEMPTS = `
INSERT INTO run_attempts (run_id, attempt, state, executor, worker_id, lease_epoch, submitted_at, started_at,
  finished_at, result_ref)
SELECT id, 1, 'SUCCEEDED', 'inline', 'host:1:00000000', 1, at, at, at, 'inline' FROM past ORDER BY n`
const EVENTS = `
INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id)
SELECT id, seq, type, at, status::run_status, attempt, CASE WHEN seq > 1 THEN 'host:1:00000000' END
FROM past CROSS JOIN
  (VALUES (1, 'created', 'PENDING', NULL), (2, 'started', 'RUNNING', 1), (3, 'succeeded', 'SUCCEEDED', 1))
  AS e(seq, type, status, attempt) ORDER BY n, seq`
/** Real history was made in many transactions and has been counted long ago. */
const COUNTED = 'UPDATE run_stats_cursor SET counted = pg_current_snapshot()'
const SEARCHED = `
INSERT INTO run_search (run_id, created_at, owner, model, model_version, queue, payload_hash)
SELECT id, created_at, owner, model, model_version, queue, payload_hash FROM model_runs ORDER BY created_at, id`
const RESULTS = `INSERT INTO run_results (run_id, attempt, result) SELECT id, 1, 'null' FROM past ORDER BY n`

export function fillPending(place: Place, count: number): Promise<void> {
  return fill(place, count, [PENDING_RUNS, CREATED, SEARCHED, COUNTED])
}

export function fillFinished(place: Place, count: number): Promise<void> {
  return fill(place, count, [FINISHED_RUNS, ATTEMPTS, EVENTS, RESULTS, SEARCHED, COUNTED])
}

async function fill(place: Place, count: number, statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: place.url })
  await client.connect()
  try {
    await client.query(
      `SET search_path = holdfast, pg_catalog; SET maintenance_work_mem = '512MB'; SET work_mem = '256MB'`,
    )
    await client.query(LANE)
    await client.query(PAST(count))
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition
       FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
       WHERE t.relnamespace = 'holdfast'::regnamespace AND NOT i.indisunique`,
    )
    for (const { name } of indexes) await client.query(`DROP INDEX ${name}`)
    for (const statement of statements) await client.query(statement)
    for (const { definition } of indexes) await client.query(definition)
  } finally {
    await client.end()
  }
}
