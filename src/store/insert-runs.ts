/**
 * The submit statement: names, slots, runs, what they are searched by and their first events of a whole batch in one statement, hence
 * one transaction and one commit.
 *
 * A run is created only when all its names were free (or had lapsed and were taken over). Keys and retries are taken first, slots only
 * for runs that got those, each in sorted order, so that two batches cannot deadlock. A run that got a key but not its slot would leave
 * the key without a run: the foreign key fails the statement, which undoes itself. Repeating the statement with the same run ids
 * creates nothing twice: it fails.
 *
 * A batch that a quota is about is not created by it, not even in part: whoever sent it takes the other way then (`admit.ts`), which
 * inserts with the same statement and without that guard.
 *
 * Most batches need only part of it, and Postgres prepares every part of a statement before it runs, so there is one text for each
 * combination of parts. A run that comes alone has a statement of its own (`insert-one-run.ts`).
 */

import type pg from 'pg'
import { plainArray } from './array-literal.ts'
import { ask } from './ask.ts'
import { insertOneRun, isUsual } from './insert-one-run.ts'
import { kindsOfBatch } from './kind-of-run.ts'
import type { NewRun } from './store.ts'
import { TAKE_LAPSED_NAME, takeLapsedSlot } from './take-names.ts'
import { THIS_XID } from './this-xid.ts'

/** A retry's name is held while its run is active; this only says when the janitor may first look for rows to clean. */
const RETRY_NAME_SECONDS = 3600

/** What a batch needs: names (keys and retries), slots, the rarely used columns, the guard against quotas. */
type Parts = { names: boolean; slots: boolean; extras: boolean; guard: boolean }

// Asked once for each kind of run, and once in the statement: while there are no rules it is a look at an empty index. A rule that commits
// later than this statement began is not seen, and whoever sets the rule waits for this statement, then counts its runs.
const RULED = `ruled AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM kind_of_run k JOIN quotas q ON q.owner IN (k.owner, '*') AND q.model IN (k.model, '')) AS is_ruled
)`
const IS_FREE = 'NOT (SELECT is_ruled FROM ruled)'

// What runs of one model share is passed once and joined by number; a batch has few of these and many runs.
const kinds = ({ guard }: Parts) => `
kind_of_run AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::int[], $6::text[], $7::float8[], $8::float8[], $9::int[],
      $10::text[], $11::int[], $12::float8[], $13::boolean[])
    WITH ORDINALITY AS k(model, model_version, queue, priority, lane, executor, timeout_seconds, expected_seconds, max_attempts, owner,
      name_count, slot_seconds, keep_succeeded, no)
), ${guard ? `${RULED}, ` : ''}item AS MATERIALIZED (
  SELECT i.*, k.* FROM unnest($14::uuid[], $15::int[], $16::text[], $17::text[], $18::bigint[], $19::timestamptz[], $20::jsonb[])
    AS i(id, kind_no, parameters, payload_hash, seed, available_at, extra)
  JOIN kind_of_run k ON k.no = i.kind_no ${guard ? `WHERE ${IS_FREE}` : ''}
)`

const names = ({ guard }: Parts) => `
named AS (
  INSERT INTO idempotency_keys AS held (owner, kind, key, payload_hash, run_id, created_at, expires_at)
  SELECT owner, kind, key, payload_hash, run_id, clock(), clock() + ttl_seconds * interval '1 second'
  FROM unnest($21::uuid[], $22::text[], $23::text[], $24::text[], $25::text[], $26::float8[])
    AS n(run_id, owner, kind, key, payload_hash, ttl_seconds) ${guard ? `WHERE ${IS_FREE}` : ''}
  ${TAKE_LAPSED_NAME}
  RETURNING run_id
)`

const GOT_ITS_NAMES = `CASE i.name_count WHEN 0 THEN true WHEN 1 THEN i.id IN (SELECT run_id FROM named)
    ELSE (i.id, i.name_count) IN (SELECT run_id, count(*)::int FROM named GROUP BY run_id) END`

// The count of names makes all of them come first: a slot that were locked before a key could meet a batch that does it the other way.
const slots = ({ names }: Parts) => `
slotted AS (
  INSERT INTO payload_slots AS held (owner, payload_hash, run_id, expires_at)
  SELECT owner, payload_hash, id, clock() + slot_seconds * interval '1 second' FROM item i
  WHERE ${names ? `(SELECT count(*) FROM named) >= 0 AND ${GOT_ITS_NAMES} AND` : ''} slot_seconds IS NOT NULL
  ORDER BY owner, payload_hash
  ${takeLapsedSlot('COALESCE((SELECT i.keep_succeeded FROM item i WHERE i.id = excluded.run_id), false)')}
  RETURNING run_id
)`

const created = ({ names, slots, extras }: Parts) => `
created AS (
  INSERT INTO model_runs (id, owner, model, model_version, queue, priority, lane, executor, parameters, payload_hash, seed,
    created_at, available_at, timeout_seconds, expected_seconds, max_attempts, event_seq
    ${extras ? ', title, tags, batch_id, retry_of, trace_parent, reservation' : ''})
  SELECT i.id, i.owner, i.model, i.model_version, i.queue, i.priority, i.lane, i.executor, i.parameters::jsonb, i.payload_hash, i.seed,
    clock(), GREATEST(i.available_at, clock()), i.timeout_seconds, i.expected_seconds, i.max_attempts, 1
    ${
      extras
        ? `, i.extra->>'title', CASE WHEN i.extra IS NULL THEN '{}' ELSE ARRAY(SELECT jsonb_array_elements_text(i.extra->'tags')) END,
    (i.extra->>'batch_id')::uuid, (i.extra->>'retry_of')::uuid, i.extra->>'trace_parent',
    (i.extra->>'reservation')::uuid`
        : ''
    }
  FROM item i
  WHERE ${names ? GOT_ITS_NAMES : 'true'}
    AND ${slots ? '(i.slot_seconds IS NULL OR i.id IN (SELECT run_id FROM slotted))' : 'true'}
  RETURNING id, owner, model, model_version, queue, payload_hash ${extras ? ', batch_id, title, tags' : ''}
)`

const searchable = ({ extras }: Parts) => `
findable AS (
  INSERT INTO run_search (run_id, created_at, owner, model, model_version, queue, payload_hash ${extras ? ', batch_id, title, tags' : ''})
  SELECT id, clock(), owner, model, model_version, queue, payload_hash ${extras ? `, batch_id, fold_case(title), NULLIF(tags, '{}')` : ''}
  FROM created
)${
  extras
    ? `, tagged AS (
  INSERT INTO run_tags (tag, created_at, run_id)
  SELECT DISTINCT tag, clock(), id FROM created CROSS JOIN LATERAL unnest(tags) AS t(tag) WHERE tags <> '{}'
), with_files AS (
  INSERT INTO run_files (run_id, parameter, file_id, name)
  SELECT i.id, f.parameter, f.file_id, f.name FROM item i JOIN created USING (id)
    CROSS JOIN LATERAL jsonb_to_recordset(i.extra->'files') AS f(parameter text, file_id text, name text)
), with_steps AS (
  INSERT INTO run_step_sources (run_id, source_run_id)
  SELECT i.id, (i.extra->>'steps_from')::uuid FROM item i JOIN created USING (id) WHERE i.extra ? 'steps_from'
)`
    : ''
}, recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, xid)
  SELECT id, 1, 'created', clock(), 'PENDING', ${THIS_XID} FROM created
)`

// All were created as a rule; then their number says it.
const answer = ({ guard }: Parts) => `
SELECT date_part('epoch', clock()) * 1000 AS created_at_ms, count(*)::int AS created, ${guard ? '(SELECT is_ruled FROM ruled)' : 'false'} AS is_ruled,
  CASE WHEN count(*) < cardinality($14::uuid[]) THEN string_agg(id::text, ',') END AS ids
FROM created`

function statement(parts: Parts): { name: string; text: string } {
  const ctes = [
    kinds(parts),
    ...(parts.names ? [names(parts)] : []),
    ...(parts.slots ? [slots(parts)] : []),
    created(parts),
    searchable(parts),
  ]
  return { name: statementName(parts), text: `WITH ${ctes.join(', ')}${answer(parts)}` }
}

function statementName({ names, slots, extras, guard }: Parts): string {
  return `insert_runs${names ? '_names' : ''}${slots ? '_slots' : ''}${extras ? '_extras' : ''}${guard ? '' : '_admitted'}`
}

const BOTH = [true, false]
const STATEMENTS = new Map(
  BOTH.flatMap((names) => BOTH.flatMap((slots) => BOTH.map((extras) => ({ names, slots, extras }))))
    .flatMap((parts) => BOTH.map((guard) => statement({ ...parts, guard })))
    .map((prepared) => [prepared.name, prepared.text]),
)

/** `isRuled`: a quota is about one of them, so none was created. */
export type Inserted = { createdAtMs: number; isRuled: boolean; isCreated: (run: NewRun) => boolean }

/** Which of them were created, at what moment. `laneOf` knows the lane of each; `isAdmitted`: quotas have been asked already. */
export async function insertRuns(
  db: Pick<pg.ClientBase, 'query'>,
  runs: readonly NewRun[],
  laneOf: (run: NewRun) => number,
  { isAdmitted = false }: { isAdmitted?: boolean } = {},
): Promise<Inserted> {
  if (runs.length === 1 && !isAdmitted && isUsual(runs[0]!)) return insertOneRun(db, runs[0]!, laneOf(runs[0]!))
  const { parts, values } = insertValues(runs, laneOf, !isAdmitted)
  const name = statementName(parts)
  const [answer] = await ask(db, { name, text: STATEMENTS.get(name)! }, values)
  const createdAtMs = Number(answer![0])
  const isRuled = answer![2] === 't'
  if (answer![3] === null && answer![1] !== '0') return { createdAtMs, isRuled, isCreated: () => true }
  const created = new Set(answer![3]?.split(','))
  return { createdAtMs, isRuled, isCreated: (run) => created.has(run.id) }
}

function insertValues(
  runs: readonly NewRun[],
  laneOf: (run: NewRun) => number,
  guard: boolean,
): { parts: Parts; values: unknown[] } {
  const { kinds, numbers } = kindsOfBatch(runs, laneOf)
  const names = runs.flatMap(namesOf)
  const extras = runs.map(extraOf)
  const parts: Parts = {
    names: names.length > 0,
    slots: runs.some(({ slot }) => slot !== null),
    extras: extras.some((extra) => extra !== null),
    guard,
  }
  const values: unknown[] = [
    ...kinds,
    plainArray(runs.map(({ id }) => id)),
    plainArray(numbers),
    runs.map(({ parametersText }) => parametersText),
    plainArray(runs.map(({ payloadHash }) => payloadHash)),
    plainArray(runs.map(({ seed }) => seed)),
    someArray(runs.map(({ availableAt }) => availableAt)),
    someArray(extras),
  ]
  if (parts.names) values.push(...nameValues(names))
  return { parts, values }
}

type Name = { run: NewRun; kind: 'key' | 'retry'; key: string; ttlSeconds: number }
const NO_NAMES: Name[] = []

function namesOf(run: NewRun): Name[] {
  const { key, retryOf } = run
  if (!key && !retryOf) return NO_NAMES
  return [
    ...(key ? [{ run, kind: 'key' as const, key: key.key, ttlSeconds: key.ttlSeconds }] : []),
    ...(retryOf ? [{ run, kind: 'retry' as const, key: retryOf, ttlSeconds: RETRY_NAME_SECONDS }] : []),
  ]
}

function nameValues(names: Name[]): unknown[] {
  const sorted = names.sort(inLockOrder)
  return [
    plainArray(sorted.map(({ run }) => run.id)),
    sorted.map(({ run }) => run.owner),
    plainArray(sorted.map(({ kind }) => kind)),
    sorted.map(({ key }) => key),
    plainArray(sorted.map(({ run }) => run.payloadHash)),
    plainArray(sorted.map(({ ttlSeconds }) => ttlSeconds)),
  ]
}

/** Rows are inserted, and so locked, in the order they are sent. Every process must sort the same way, hence by code units. */
function inLockOrder(a: Name, b: Name): number {
  return compare(a.kind, b.kind) || compare(a.run.owner, b.run.owner) || compare(a.key, b.key)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The rarely used columns travel in one object, null for most runs. */
function extraOf(run: NewRun): string | null {
  if (isUsual(run)) return null
  return JSON.stringify({
    title: run.title,
    tags: run.tags,
    batch_id: run.batchId,
    retry_of: run.retryOf,
    trace_parent: run.traceParent,
    files: run.files?.map(({ parameter, fileId, name }) => ({ parameter, file_id: fileId, name })) ?? [],
    ...(run.stepsFrom && { steps_from: run.stepsFrom }),
    ...(run.reservationId && { reservation: run.reservationId }),
  })
}

/** Where nothing is given, an empty array does: beside longer ones it reads as nulls. */
function someArray(values: unknown[]): unknown[] {
  return values.every((value) => value === null) ? [] : values
}
