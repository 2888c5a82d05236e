/**
 * A database with years behind it, made by a few statements: two million finished runs, or as many as are asked for, with attempts, events and results of every
 * fourth, keys old and new, a hundred thousand runs that wait for a model nobody offers, and as many that wait for a later time in the
 * lane under test.
 *
 * Secondary indexes are dropped and built again afterwards, and foreign keys are not checked: the rows are right by construction.
 */

import pg from 'pg'
import type { TestDatabase } from './database.ts'

const FINISHED = 2_000_000
export const WAITING = 100_000

/** Rises with n, as the ids of a service do. */
const id = (first: string, n = 'n') =>
  `('${first}' || lpad(to_hex(${n}), 7, '0') || '-0000-7000-8000-000000000000')::uuid`

const COLUMNS = `id, status, owner, model, model_version, queue, priority, lane, executor, parameters, payload_hash, seed,
  created_at, available_at, started_at, finished_at, timeout_seconds, max_attempts, attempt_count, lease_epoch, event_seq,
  result_ref, result_hash`

const finishedRuns = (count: number) => `
INSERT INTO model_runs (${COLUMNS})
SELECT ${id('1')}, status, 'owner', 'forecast', '1', 'default', 0, 1, 'inline', '{"n": 1}', lpad(to_hex(n), 64, '0'), n,
  at, at, at, at, 60, 3, 1, 1, 3, CASE n % 5 < 3 WHEN true THEN 'inline' END, CASE n % 5 < 3 WHEN true THEN 'f' END
FROM (
  SELECT n, to_timestamp(1500000000 + 10 * n) AS at,
    ('{SUCCEEDED,SUCCEEDED,SUCCEEDED,FAILED,CANCELLED}'::run_status[])[n % 5 + 1] AS status
  FROM generate_series(1, ${count}) AS n
) finished`

const waitingRuns = (first: string, model: string, lane: number, available: string) => `
INSERT INTO model_runs (${COLUMNS})
SELECT ${id(first)}, 'PENDING', 'default', '${model}', '1', 'default', 0, ${lane}, 'inline', '{"n": 1}', lpad(to_hex(n), 64, '${first}'),
  n, clock() - interval '1 hour', ${available}, NULL, NULL, 60, 3, 0, 0, 1, NULL, NULL
FROM generate_series(1, ${WAITING}) AS n`

const fill = (finished: number) => [
  `INSERT INTO lanes (queue, model, model_version, priority) VALUES ('default', 'forecast', '1', 0), ('default', 'other', '1', 0)`,
  finishedRuns(finished),
  waitingRuns('2', 'other', 2, `clock() - interval '1 hour'`),
  waitingRuns('3', 'forecast', 1, `clock() + interval '1 day' + n * interval '1 second'`),
  `INSERT INTO run_attempts (id, run_id, attempt, state, executor, worker_id, lease_epoch, submitted_at, started_at, finished_at)
   SELECT r.id, r.id, 1, r.status::text::attempt_state, 'inline', 'w', 1, created_at, created_at, finished_at
   FROM model_runs r WHERE finished_at IS NOT NULL AND seed % 4 = 0`,
  `INSERT INTO run_events (run_id, seq, type, at, status)
   SELECT id, 3, 'ended', finished_at, status FROM model_runs WHERE finished_at IS NOT NULL AND seed % 4 = 0`,
  `INSERT INTO run_results (run_id, attempt, result)
   SELECT id, 1, '{}' FROM model_runs WHERE status = 'SUCCEEDED' AND seed % 4 = 0`,
  `INSERT INTO idempotency_keys (owner, kind, key, payload_hash, run_id, created_at, expires_at)
   SELECT 'default', 'key', 'old-' || n, lpad(to_hex(n), 64, '0'), ${id('1')}, clock(), clock() + (n - 25000) * interval '1 second'
   FROM generate_series(1, 150000) AS n`,
  `INSERT INTO payload_slots (owner, payload_hash, run_id, expires_at)
   SELECT 'default', lpad(to_hex(n), 64, '0'), ${id('1')}, clock() + (n - 25000) * interval '1 second'
   FROM generate_series(1, 150000) AS n`,
]

// Those that refer to others first: a logged table cannot refer to an unlogged one.
const TABLES = ['idempotency_keys', 'payload_slots', 'model_runs', 'run_attempts', 'run_events']

export async function fillHistory(database: TestDatabase, finished = FINISHED): Promise<void> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query(
      `SET search_path = holdfast; SET session_replication_role = replica; SET maintenance_work_mem = '256MB';
       SET max_parallel_workers_per_gather = 0`,
    )
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i
       JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'holdfast'::regnamespace AND c.relname LIKE 'idx%'`,
    )
    for (const { name } of indexes) await client.query(`DROP INDEX ${name}`)
    for (const table of TABLES) await client.query(`ALTER TABLE ${table} SET UNLOGGED`)
    for (const statement of fill(finished)) await client.query(statement)
    for (const { definition } of indexes) await client.query(definition)
    await client.query('VACUUM (ANALYZE)')
  } finally {
    await client.end()
  }
}
