/**
 * Fills the tables that lists read with a past as a busy service has it: a few owners, models and queues with most of the
 * runs and many with few, nearly everything succeeded, some runs with tags, titles and batches. Rows that lists do not read
 * (attempts, events, results) are left out.
 *
 * Every choice is a hash of the run's number, so that two fills are equal. Values named `rare-…` belong to 20 runs each,
 * spread over the whole time, and `owner-big` never uses `queue-other`, so that two common values exist that never meet.
 */

import pg from 'pg'

/** A number in [0, 1) that depends on the run and on what is being chosen. */
const chance = (choice: number) => `((hashint8extended(n, ${choice}) & 2147483647) / 2147483648.0)`

/** 1 to count, the first ones far more often than the last. */
const skewed = (choice: number, count: number) => `floor(power(${count}, ${chance(choice)}))::int`

const PAST = (count: number) => `
CREATE TEMP TABLE past AS
SELECT n, at, owner, queue, model, status, rare, h, CASE WHEN rare = 9 THEN '2' ELSE '1' END AS version,
  (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(h, 1, 3) || '8' || substr(h, 4, 15))::uuid AS id,
  CASE WHEN ${chance(5)} < 0.02 OR status = 'FAILED' THEN CASE WHEN rare = 4 THEN 'RareError'
    WHEN ${chance(6)} < 0.5 THEN 'Timeout' ELSE 'Error' || ${skewed(7, 60)} END END AS error_class,
  CASE WHEN rare = 5 THEN 'Rare title ' || n WHEN ${chance(8)} < 0.25
    THEN (CASE WHEN ${chance(9)} < 0.6 THEN 'Nightly forecast ' ELSE 'Report ' END) || substr(h, 1, 6) END AS title,
  CASE WHEN rare = 6 THEN '{rare-tag}'::text[] WHEN ${chance(10)} < 0.3
    THEN ARRAY['common-tag', 'tag-' || ${skewed(11, 500)}] ELSE '{}' END AS tags,
  CASE WHEN rare = 7 THEN '00000000-0000-4000-8000-000000000007'::uuid WHEN ${chance(12)} < 0.1 THEN '00000000-0000-4000-8000-000000000001'::uuid
    WHEN ${chance(12)} < 0.2 THEN ('00000000-0000-4000-8000-' || lpad(to_hex(n / 1000 + 16), 12, '0'))::uuid END AS batch_id
FROM (
  SELECT n, rare, h,
    -- Fifty at a time, as a group commit makes them.
    statement_timestamp() - interval '1 hour' - ((${count} - n) / 50) * interval '250 seconds' AS at,
    CASE WHEN rare = 1 THEN 'rare-owner' WHEN ${chance(1)} < 0.4 THEN 'owner-big' ELSE 'owner-' || ${skewed(2, 2_000)} END AS owner,
    CASE WHEN rare = 2 THEN 'rare-queue' WHEN ${chance(1)} < 0.4 OR ${chance(3)} < 0.5 THEN 'default' ELSE 'queue-other' END AS queue,
    CASE WHEN rare = 3 THEN 'rare-model' ELSE 'model-' || ${skewed(4, 80)} END AS model,
    CASE WHEN n > ${count} - 64 THEN 'RUNNING' WHEN rare = 8 THEN 'CANCELLED'
      WHEN ${chance(13)} < 0.01 THEN 'PENDING' WHEN ${chance(13)} < 0.05 THEN 'FAILED' ELSE 'SUCCEEDED' END::run_status AS status
  FROM (
    SELECT n, md5('past ' || n) AS h, CASE WHEN n % (${count} / 20) BETWEEN 1 AND 9 THEN n % (${count} / 20) END AS rare
    FROM generate_series(1, ${count}::bigint) AS n
  ) numbered
) chosen`

const LANES = `
INSERT INTO lanes (queue, model, model_version, priority) SELECT DISTINCT queue, model, version, 0 FROM past ON CONFLICT DO NOTHING`

const RUNS = `
INSERT INTO model_runs (id, status, owner, model, model_version, queue, priority, lane, executor, parameters, payload_hash, seed, title,
  tags, batch_id, created_at, available_at, started_at, finished_at, timeout_seconds, max_attempts, attempt_count, lease_owner,
  lease_expires_at, lease_epoch, deadline_at, heartbeat_at, event_seq, last_error, last_error_class, last_error_attempt, result_ref, result_hash)
SELECT id, status, past.owner, model, version, queue, 0, l.lane, 'process', jsonb_build_object('scenario', 'high_inflation', 'region', 'EU', 'n', n),
  h || h, n, title, tags, batch_id, at, at, CASE WHEN status <> 'PENDING' THEN at END,
  CASE WHEN status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') THEN at END, 86400, 3, CASE WHEN status = 'PENDING' THEN 0 ELSE 1 END,
  CASE WHEN status = 'RUNNING' THEN 'host:1:00000000' END, CASE WHEN status = 'RUNNING' THEN at + interval '1 day' END, 1,
  CASE WHEN status = 'RUNNING' THEN at + interval '1 day' END, at, 3,
  CASE WHEN error_class IS NOT NULL THEN 'the upstream did not answer in time: request ' || n END, error_class,
  CASE WHEN error_class IS NOT NULL THEN 1 END, CASE WHEN status = 'SUCCEEDED' THEN 'inline' END,
  CASE WHEN status = 'SUCCEEDED' THEN h || h END
FROM past JOIN lanes l USING (queue, model) WHERE l.model_version = version ORDER BY n`

const SEARCH = `
INSERT INTO run_search (run_id, created_at, batch_id, owner, model, model_version, queue, title, tags, payload_hash)
SELECT p.id, at, p.batch_id, p.owner, p.model, version, p.queue, fold_case(p.title), NULLIF(p.tags, '{}'), r.payload_hash
FROM past p JOIN model_runs r ON r.id = p.id ORDER BY n`

const TAGS = `
INSERT INTO run_tags (tag, created_at, run_id) SELECT tag, at, id FROM past CROSS JOIN LATERAL unnest(tags) AS t(tag) ORDER BY n`

export async function fillList(url: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(
      `SET search_path = holdfast, pg_catalog; SET maintenance_work_mem = '512MB'; SET work_mem = '256MB'`,
    )
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition
       FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
       WHERE t.relnamespace = 'holdfast'::regnamespace AND t.relname IN ('model_runs', 'run_search', 'run_tags') AND NOT i.indisprimary`,
    )
    for (const { name } of indexes) await client.query(`DROP INDEX ${name}`)
    for (const statement of [PAST(count), LANES, RUNS, SEARCH, TAGS]) await client.query(statement)
    for (const { definition } of indexes) await client.query(definition)
    await client.query('VACUUM (ANALYZE)')
  } finally {
    await client.end()
  }
}
