/**
 * The settle of a batch in which every attempt succeeded, which nearly all batches are: the same guards and the same rows as in `settle.ts`,
 * without a word about failures. That makes it a third cheaper.
 *
 * Successes that bring facets or places have a statement of their own, so that those without pay nothing for them: what their runs
 * are found by is written with the result, in the one transaction, or not at all. Likewise those of runs with a cost, which is closed with them.
 *
 * A run that nothing has changed since its claim lies where the claim put it, and is looked for there first: its entries in the index of ids are
 * two by then, and one of them leads to the row it was before. Whoever is not found there is looked for by id.
 */

import type pg from 'pg'
import { plainArray } from './array-literal.ts'
import { ask } from './ask.ts'
import { settleCost } from './close-costs.ts'
import type { Settlement } from './store.ts'
import { THIS_XID } from './this-xid.ts'

// A place that does not say its file is one of the run's only file, where there is one.
const FOUND = `, faceted AS (
  INSERT INTO run_facets (run_id, name, value, created_at)
  SELECT s.id, f.name, f.value, s.created_at FROM settled s
    CROSS JOIN LATERAL jsonb_to_recordset(s.found->'facets') AS f(name text, value text)
), placed AS (
  INSERT INTO run_places (run_id, no, file_id, latitude, longitude, label, created_at)
  SELECT s.id, p.no, COALESCE(p.place->>'fileId', own.file_id), (p.place->>'latitude')::float8,
    (p.place->>'longitude')::float8, p.place->>'label', s.created_at
  FROM settled s
    CROSS JOIN LATERAL jsonb_array_elements(s.found->'places') WITH ORDINALITY AS p(place, no)
    CROSS JOIN LATERAL (
      SELECT CASE WHEN count(DISTINCT file_id) = 1 THEN min(file_id) END AS file_id FROM run_files WHERE run_id = s.id) own
)`

type Parts = { row?: boolean; found?: boolean; cost?: boolean }

// All of them were settled as a rule; then their number says it.
const settleSuccessesText = ({ row, found, cost }: Parts) => `
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[]${row ? ', $7::tid[]' : ''}${found ? ', $7::jsonb[]' : ''}${
    cost ? `, $${found ? 8 : 7}::numeric[]` : ''
  })
    AS i(id, epoch, result_ref, result_hash, result_text${row ? ', row' : ''}${found ? ', found' : ''}${cost ? ', cost' : ''})
), settled AS (
  UPDATE model_runs r SET status = 'SUCCEEDED', finished_at = clock(), lease_owner = NULL, lease_expires_at = NULL, deadline_at = NULL,
    result_ref = i.result_ref, result_hash = i.result_hash, event_seq = r.event_seq + 1
  FROM item i
  WHERE ${row ? 'r.ctid = i.row AND r.id = i.id' : 'r.id = ANY (ARRAY[i.id])'} AND r.lease_owner = $1 AND r.lease_epoch = i.epoch
  RETURNING r.id, r.attempt_count, r.event_seq, i.result_ref, i.result_text${found ? ', r.created_at, i.found' : ''}${cost ? ', i.cost' : ''}
), ended AS (
  UPDATE run_attempts a SET state = 'SUCCEEDED', finished_at = clock(), result_ref = s.result_ref
  FROM settled s WHERE a.run_id = ANY (ARRAY[s.id]) AND a.attempt = s.attempt_count
), stored AS (
  INSERT INTO run_results (run_id, attempt, result)
  SELECT id, attempt_count, result_text::json FROM settled WHERE result_text IS NOT NULL
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id, xid)
  SELECT id, event_seq, 'succeeded', clock(), 'SUCCEEDED', attempt_count, $1, ${THIS_XID} FROM settled
)${found ? FOUND : ''}${cost ? settleCost(`'SUCCEEDED'`) : ''}
SELECT CASE WHEN count(*) < cardinality($2::uuid[]) THEN COALESCE(string_agg(id::text, ','), '') END FROM settled`

const STATEMENTS = {
  settle_successes: settleSuccessesText({}),
  settle_successes_row: settleSuccessesText({ row: true }),
  settle_successes_found: settleSuccessesText({ found: true }),
  settle_successes_cost: settleSuccessesText({ cost: true }),
  settle_successes_found_cost: settleSuccessesText({ found: true, cost: true }),
}

type IsSettled = (item: Settlement) => boolean

/** Of one worker, sorted by run id; all of them bring facets or places, or none does, and all have a cost, or none has. */
export async function settleSuccesses(pool: pg.Pool, sorted: Settlement[]): Promise<IsSettled> {
  const { found, cost } = sorted[0]!
  const parts = { found: found !== undefined, cost: cost !== undefined }
  if (parts.found || parts.cost || sorted.some(({ row }) => row === undefined)) return settle(pool, sorted, parts)
  const stayed = await settle(pool, sorted, { row: true })
  const moved = sorted.filter((item) => !stayed(item))
  if (moved.length === 0) return stayed
  const rest = await settle(pool, moved, {})
  return (item) => stayed(item) || rest(item)
}

async function settle(pool: pg.Pool, sorted: Settlement[], { row, found, cost }: Parts): Promise<IsSettled> {
  const name = `settle_successes${row ? '_row' : ''}${found ? '_found' : ''}${cost ? '_cost' : ''}`
  const text = STATEMENTS[name as keyof typeof STATEMENTS]
  const rows = await ask(pool, { name, text }, [
    sorted[0]!.workerId,
    plainArray(sorted.map((item) => item.runId)),
    plainArray(sorted.map((item) => item.epoch)),
    sorted.map((item) => item.result!.ref),
    plainArray(sorted.map((item) => item.result!.hash)),
    sorted.map((item) => item.result!.text),
    ...(row ? [plainArray(sorted.map((item) => `"${item.row}"`))] : []),
    ...(found ? [sorted.map((item) => JSON.stringify(item.found))] : []),
    ...(cost ? [plainArray(sorted.map((item) => item.cost!.reported))] : []),
  ])
  const some = rows[0]![0]
  if (some === null) return () => true
  const settled = new Set(some!.split(','))
  return (item) => settled.has(item.runId)
}
