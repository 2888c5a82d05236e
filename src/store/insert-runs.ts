/**
 * The submit statement: names, runs, what they are searched by and their first events of a whole batch in one statement, hence one
 * transaction and one commit.
 *
 * A run is created only when all its names were free (or had lapsed and were taken over). Names are taken in sorted order, keys
 * before retries before slots, so that two batches cannot deadlock. Repeating the statement with the same run ids creates nothing twice: it fails.
 */

import type pg from 'pg'
import { plainArray } from './array-literal.ts'
import type { NewRun } from './store.ts'

/** A retry's name is held while its run is active; this only says when the janitor may first look for rows to clean. */
const RETRY_NAME_SECONDS = 3600

// What runs of one model share is passed once and joined by number; a batch has few of these and many runs.
const INSERT_RUNS = `
WITH kind_of_run AS MATERIALIZED (
  SELECT k.*, l.lane
  FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::float8[], $7::float8[], $8::int[])
    WITH ORDINALITY AS k(model, model_version, queue, priority, executor, timeout_seconds, expected_seconds, max_attempts, no)
  JOIN lanes l USING (queue, model, model_version, priority)
), item AS MATERIALIZED (
  SELECT * FROM unnest($9::uuid[], $10::int[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::timestamptz[], $16::int[], $17::jsonb[])
    AS i(id, kind_no, owner, parameters, payload_hash, seed, available_at, name_count, extra)
), name AS MATERIALIZED (
  SELECT * FROM unnest($18::uuid[], $19::text[], $20::text[], $21::text[], $22::text[], $23::float8[], $24::boolean[])
    AS n(run_id, owner, kind, key, payload_hash, ttl_seconds, keep_succeeded)
), named AS (
  INSERT INTO idempotency_keys AS held (owner, kind, key, payload_hash, run_id, created_at, expires_at)
  SELECT owner, kind, key, payload_hash, run_id, clock(), clock() + ttl_seconds * interval '1 second'
  FROM name
  ON CONFLICT (owner, kind, key) DO UPDATE
    SET payload_hash = excluded.payload_hash, run_id = excluded.run_id,
        created_at = excluded.created_at, expires_at = excluded.expires_at
    -- A lapsed name is taken over. A run that this snapshot cannot see counts as alive: its request is answered by a new read.
    WHERE EXISTS (
      SELECT FROM model_runs r WHERE r.id = held.run_id AND CASE held.kind
        WHEN 'key' THEN held.expires_at <= clock() AND r.finished_at IS NOT NULL
        WHEN 'retry' THEN r.finished_at IS NOT NULL
        ELSE held.expires_at <= clock() OR (r.finished_at IS NOT NULL AND NOT (r.result_ref IS NOT NULL
          AND (SELECT n.keep_succeeded FROM name n WHERE n.run_id = excluded.run_id AND n.kind = held.kind)))
        END)
  RETURNING run_id
), created AS (
  INSERT INTO model_runs (id, owner, model, model_version, queue, priority, lane, executor, parameters, payload_hash, seed,
    title, tags, batch_id, retry_of, trace_parent, created_at, available_at,
    timeout_seconds, expected_seconds, max_attempts, event_seq)
  SELECT i.id, i.owner, k.model, k.model_version, k.queue, k.priority, k.lane, k.executor, i.parameters::jsonb, i.payload_hash, i.seed,
    i.extra->>'title', CASE WHEN i.extra IS NULL THEN '{}' ELSE ARRAY(SELECT jsonb_array_elements_text(i.extra->'tags')) END, (i.extra->>'batch_id')::uuid,
    (i.extra->>'retry_of')::uuid, i.extra->>'trace_parent', clock(), GREATEST(i.available_at, clock()),
    k.timeout_seconds, k.expected_seconds, k.max_attempts, 1
  FROM item i JOIN kind_of_run k ON k.no = i.kind_no
  WHERE CASE i.name_count WHEN 0 THEN true
    WHEN 1 THEN i.id IN (SELECT run_id FROM named)
    ELSE (i.id, i.name_count) IN (SELECT run_id, count(*)::int FROM named GROUP BY run_id) END
  RETURNING id, status, created_at, available_at, owner, model, model_version, queue, batch_id, title, tags
), findable AS (
  INSERT INTO run_search (run_id, created_at, batch_id, owner, model, model_version, queue, title, tags)
  SELECT id, created_at, batch_id, owner, model, model_version, queue, fold_case(title), NULLIF(tags, '{}') FROM created
), tagged AS (
  INSERT INTO run_tags (tag, created_at, run_id)
  SELECT DISTINCT tag, created_at, id FROM created CROSS JOIN LATERAL unnest(tags) AS t(tag) WHERE tags <> '{}'
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status)
  SELECT id, 1, 'created', created_at, status FROM created
)
SELECT id, date_part('epoch', created_at) * 1000 AS created_at_ms, date_part('epoch', available_at) * 1000 AS available_at_ms
FROM created`

export type CreatedRow = { id: string; created_at_ms: number; available_at_ms: number }

export async function insertRuns(db: pg.Pool, runs: readonly NewRun[]): Promise<CreatedRow[]> {
  const result = await db.query<CreatedRow>({ name: 'insert_runs', text: INSERT_RUNS, values: insertValues(runs) })
  return result.rows
}

function insertValues(runs: readonly NewRun[]): unknown[] {
  const kinds = columns(8)
  const kindNumbers = new Map<string, number>()
  const items = columns(9)
  const wanted: Name[] = []
  for (const run of runs) {
    const kind = [
      run.model,
      run.modelVersion,
      run.queue,
      run.priority,
      run.executor,
      run.timeoutSeconds,
      run.expectedSeconds,
      run.maxAttempts,
    ]
    const kindKey = kind.join('\u0000')
    let kindNumber = kindNumbers.get(kindKey)
    if (kindNumber === undefined) {
      kindNumber = kindNumbers.size + 1
      kindNumbers.set(kindKey, kindNumber)
      append(kinds, kind)
    }
    const nameCount = (run.key ? 1 : 0) + (run.slot ? 1 : 0) + (run.retryOf ? 1 : 0)
    append(items, [
      run.id,
      kindNumber,
      run.owner,
      run.parametersText,
      run.payloadHash,
      run.seed,
      run.availableAt,
      nameCount,
      extraOf(run),
    ])
    const { key, retryOf, slot } = run
    if (key) wanted.push({ run, kind: 'key', key: key.key, ttlSeconds: key.ttlSeconds, keep: false })
    if (retryOf) wanted.push({ run, kind: 'retry', key: retryOf, ttlSeconds: RETRY_NAME_SECONDS, keep: false })
    if (slot) {
      const keep = slot.dedupe === 'succeeded'
      wanted.push({ run, kind: 'slot', key: run.payloadHash, ttlSeconds: slot.windowSeconds, keep })
    }
  }
  const names = columns(7)
  for (const { run, kind, key, ttlSeconds, keep } of wanted.sort(inLockOrder))
    append(names, [run.id, run.owner, kind, key, run.payloadHash, ttlSeconds, keep])
  const [ids, kindNos, owners, parameters, hashes, seeds, availableAts, nameCounts, extras] = items
  const [runIds, nameOwners, nameKinds, keys, nameHashes, ttls, keeps] = names
  return [
    ...kinds,
    ...[
      plainArray(ids!),
      plainArray(kindNos!),
      owners,
      parameters,
      plainArray(hashes!),
      plainArray(seeds!),
      availableAts,
      plainArray(nameCounts!),
      extras,
    ],
    ...[
      plainArray(runIds!),
      nameOwners,
      plainArray(nameKinds!),
      keys,
      plainArray(nameHashes!),
      plainArray(ttls!),
      plainArray(keeps!),
    ],
  ]
}

type Name = { run: NewRun; kind: 'key' | 'retry' | 'slot'; key: string; ttlSeconds: number; keep: boolean }

/** Rows are inserted, and so locked, in the order they are sent. Every process must sort the same way, hence by code units. */
function inLockOrder(a: Name, b: Name): number {
  return compare(a.kind, b.kind) || compare(a.run.owner, b.run.owner) || compare(a.key, b.key)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The rarely used columns travel in one object, null for most runs. */
function extraOf(run: NewRun): string | null {
  if (!run.title && run.tags.length === 0 && !run.batchId && !run.retryOf && !run.traceParent) return null
  return JSON.stringify({
    title: run.title,
    tags: run.tags,
    batch_id: run.batchId,
    retry_of: run.retryOf,
    trace_parent: run.traceParent,
  })
}

function columns(count: number): unknown[][] {
  return Array.from({ length: count }, () => [])
}

function append(into: unknown[][], row: unknown[]): void {
  for (let index = 0; index < row.length; index += 1) into[index]!.push(row[index])
}
