/**
 * Giving away the places of concurrency keys, under their locks (`key-places.ts`): to the run that is first in line, or to a new run that
 * replaces older ones.
 *
 * The row of a run that was cancelled in line is turned into that of an ended holder: whoever looks next finds it and looks who else fits.
 */

import type pg from 'pg'
import type { RunKey } from '../run/runs-per-key.ts'
import { IS_ACTIVE, inKeyLocks, type KeyName } from './key-places.ts'
import type { FreedRun, StoppedRun } from './ports/blocks.ts'

// Those who have a place and those in line: each has an index of its own, and a condition that means both would find neither.
const holdsOf = (owner: string, key: string) =>
  ['held', 'waiting']
    .map(
      (state) =>
        `SELECT run_id, arrived_at FROM concurrency_holds WHERE owner = ${owner} AND key = ${key} AND state = '${state}'`,
    )
    .join(' UNION ALL ')

// Who is beyond the newest of those that came before, so many that the run itself has a place when they have ended. What is being cancelled
// already does not count, nor does what joins later. Rows are locked in order of ids, as everyone does who locks several.
const CANCEL_OLDER = `
WITH alive AS MATERIALIZED (
  SELECT h.run_id FROM (${holdsOf('$1', '$2')}) h
  WHERE h.run_id <> $3
    AND (h.arrived_at, h.run_id) <= (SELECT n.arrived_at, n.run_id FROM concurrency_holds n WHERE n.run_id = $3)
    AND (SELECT r.finished_at IS NULL AND r.cancel_requested_at IS NULL FROM model_runs r WHERE r.id = h.run_id LIMIT 1) IS TRUE
  ORDER BY h.arrived_at DESC, h.run_id DESC OFFSET $4::int - 1
), target AS MATERIALIZED (
  SELECT id FROM model_runs WHERE id = ANY (ARRAY(SELECT run_id FROM alive)) ORDER BY id FOR UPDATE
), cancelled AS (
  UPDATE model_runs r SET
    status = (CASE r.status WHEN 'PENDING' THEN 'CANCELLED' ELSE r.status::text END)::run_status,
    finished_at = CASE r.status WHEN 'PENDING' THEN clock() END,
    cancel_requested_at = clock(), event_seq = r.event_seq + 1
  FROM target t
  WHERE r.id = ANY (ARRAY[t.id]) AND (r.status = 'PENDING' OR (r.status = 'RUNNING' AND r.cancel_requested_at IS NULL))
  RETURNING r.id, r.status, r.event_seq, r.attempt_count, r.lease_owner
), unblocked AS (
  DELETE FROM run_blocks b USING cancelled c WHERE b.run_id = c.id
), left_line AS (
  UPDATE concurrency_holds h SET state = 'held' FROM cancelled c WHERE h.run_id = c.id AND c.status = 'CANCELLED' AND h.state <> 'held'
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id, message, data)
  SELECT id, event_seq, CASE status WHEN 'CANCELLED' THEN 'cancelled' ELSE 'cancel_requested' END, clock(), status,
    CASE status WHEN 'RUNNING' THEN attempt_count END, lease_owner, 'a newer run of its concurrency key took its place',
    jsonb_build_object('replaced_by', $3::uuid)
  FROM cancelled
)
SELECT id AS "runId", lease_owner AS holder FROM cancelled WHERE status = 'RUNNING'`

const LOCK_RUNS = `
SELECT count(*) FROM (
  SELECT FROM model_runs WHERE id = ANY (ARRAY(
    SELECT h.run_id FROM unnest($1::text[], $2::text[]) AS a(owner, key) CROSS JOIN LATERAL (${holdsOf('a.owner', 'a.key')}) h))
  ORDER BY id FOR NO KEY UPDATE
) locked`

type Replacing = KeyName & { limit: number; runId: string }

/** The same for several, in their order. What they may end is locked in one statement first, in order of ids, as settles do. */
export async function cancelOlderAll(client: pg.ClientBase, runs: readonly Replacing[]): Promise<StoppedRun[]> {
  if (runs.length > 1) {
    const values = [runs.map(({ owner }) => owner), runs.map(({ key }) => key)]
    await client.query({ name: 'lock_runs_of_keys', text: LOCK_RUNS, values })
  }
  const stopped: StoppedRun[] = []
  for (const run of runs) stopped.push(...(await cancelOlder(client, run)))
  return stopped
}

/** For a run that has a hold already: ends or stops as many older runs of its key as it needs to have a place. */
export async function cancelOlder(
  client: pg.ClientBase,
  { owner, key, limit, runId }: Replacing,
): Promise<StoppedRun[]> {
  const values = [owner, key, runId, limit]
  return (await client.query<StoppedRun>({ name: 'cancel_older', text: CANCEL_OLDER, values })).rows
}

const ARRIVE = `
UPDATE concurrency_holds h SET state = 'waiting' FROM unnest($1::text[], $2::text[]) AS a(owner, key)
WHERE h.owner = a.owner AND h.key = a.key AND h.state = 'scheduled' AND h.arrived_at <= clock()
RETURNING h.run_id AS "runId", h.owner, h.key, h.max_runs AS limit, h.mode, h.arrived_at`

type Arrived = KeyName & { runId: string; limit: number; mode: RunKey['mode']; arrived_at: Date }

// In line by priority, then by age. Who does not fit, by its own limit, holds back those behind it. A run that is cancelled meanwhile is
// skipped; its place is given away by the next look.
const PROMOTE = `
WITH asked AS MATERIALIZED (
  SELECT owner, key FROM unnest($1::text[], $2::text[]) AS a(owner, key)
), ended AS (
  DELETE FROM concurrency_holds h USING asked a WHERE h.owner = a.owner AND h.key = a.key AND h.state = 'held' AND NOT (${IS_ACTIVE})
), line AS MATERIALIZED (
  SELECT w.run_id, a.owner, a.key, w.max_runs, w.place, u.active + w.place <= w.max_runs AS fits
  FROM asked a
  CROSS JOIN LATERAL (
    SELECT count(*) AS active FROM concurrency_holds h
    WHERE h.owner = a.owner AND h.key = a.key AND h.state = 'held' AND ${IS_ACTIVE}
  ) u
  CROSS JOIN LATERAL (
    SELECT h.max_runs AS most FROM concurrency_holds h WHERE h.owner = a.owner AND h.key = a.key AND h.state = 'waiting'
    ORDER BY h.priority DESC, h.arrived_at, h.run_id LIMIT 1
  ) head
  CROSS JOIN LATERAL (
    SELECT h.run_id, h.max_runs, row_number() OVER (ORDER BY h.priority DESC, h.arrived_at, h.run_id) AS place FROM (
      SELECT run_id, max_runs, priority, arrived_at FROM concurrency_holds h
      WHERE h.owner = a.owner AND h.key = a.key AND h.state = 'waiting' AND ${IS_ACTIVE}
      ORDER BY priority DESC, arrived_at, run_id LIMIT GREATEST(head.most - u.active, 0)
    ) h
  ) w
), first AS MATERIALIZED (
  SELECT run_id FROM (SELECT run_id, bool_and(fits) OVER (PARTITION BY owner, key ORDER BY place) AS all_fit FROM line) l WHERE all_fit
), freed AS (
  UPDATE model_runs r SET available_at = GREATEST(b.start_at, clock()), event_seq = r.event_seq + 1
  FROM first f JOIN run_blocks b ON b.run_id = f.run_id AND b.reason = 'concurrency'
  WHERE r.id = ANY (ARRAY[f.run_id]) AND r.status = 'PENDING'
  RETURNING r.id, r.queue, r.event_seq
), held AS (
  UPDATE concurrency_holds h SET state = 'held' FROM freed f WHERE h.run_id = f.id
), unblocked AS (
  DELETE FROM run_blocks b USING freed f WHERE b.run_id = f.id
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, message)
  SELECT id, event_seq, 'unblocked', clock(), 'PENDING', 'a place of its concurrency key is free' FROM freed
)
SELECT id AS "runId", queue FROM freed`

/** Under the locks of the keys: those whose time has come join the line, and free places are given away. */
export async function promoteKeys(
  client: pg.ClientBase,
  keys: readonly KeyName[],
): Promise<{ freed: FreedRun[]; stopped: StoppedRun[] }> {
  const values = [keys.map(({ owner }) => owner), keys.map(({ key }) => key)]
  const arrived = await client.query<Arrived>({ name: 'join_line', text: ARRIVE, values })
  const replacing = arrived.rows.filter(({ mode }) => mode === 'cancel_older').toSorted(byArrival)
  const stopped = await cancelOlderAll(client, replacing)
  const freed: FreedRun[] = []
  for (;;) {
    const { rows } = await client.query<FreedRun>({ name: 'promote', text: PROMOTE, values })
    freed.push(...rows)
    // A line is looked at as far as the limit of its first run; behind it there may be runs with higher limits.
    if (rows.length === 0) return { freed, stopped }
  }
}

function byArrival(a: Arrived, b: Arrived): number {
  return a.arrived_at.getTime() - b.arrived_at.getTime() || (a.runId < b.runId ? -1 : 1)
}

// Whose place is free and not given away yet, and whose line is joined by somebody whose time has come. One row at least: whether there are
// runs with keys at all.
const DUE_KEYS = `
SELECT u.is_used, d.owner, d.key FROM (SELECT EXISTS (SELECT FROM concurrency_holds) AS is_used) u LEFT JOIN (
  SELECT DISTINCT owner, key FROM (
    (SELECT h.owner, h.key FROM concurrency_holds h WHERE h.state = 'held' AND NOT (${IS_ACTIVE}) LIMIT $1)
    UNION ALL
    (SELECT h.owner, h.key FROM concurrency_holds h WHERE h.state = 'scheduled' AND h.arrived_at <= clock() LIMIT $1)
  ) due LIMIT $1
) d ON true`

type DueRow = { is_used: boolean; owner: string | null; key: string | null }

/** What a janitor does each second. Two at once are harmless. `isUsed`: there are runs with keys. */
export async function promoteDue(
  pool: pg.Pool,
  keysMax: number,
): Promise<{ freed: FreedRun[]; stopped: StoppedRun[]; more: boolean; isUsed: boolean }> {
  const { rows } = await pool.query<DueRow>({ name: 'due_keys', text: DUE_KEYS, values: [keysMax] })
  const keys = rows.filter((row): row is DueRow & KeyName => row.key !== null)
  const isUsed = rows[0]!.is_used
  if (keys.length === 0) return { freed: [], stopped: [], more: false, isUsed }
  const given = await inKeyLocks(pool, keys, (client) => promoteKeys(client, keys))
  // Those that were looked at may all have been of a few keys.
  return { ...given!, more: true, isUsed }
}

// Found by the runs alone, so that it costs the same however many keys there are.
const KEYS_OF_ENDED = `
SELECT DISTINCT h.owner, h.key FROM concurrency_holds h WHERE h.run_id = ANY ($1::uuid[]) AND h.state = 'held' AND NOT (${IS_ACTIVE})`

/** What whoever has ended these runs does at once. Those that have no key, or have not ended, are passed over. */
export async function promoteAfter(
  pool: pg.Pool,
  runIds: readonly string[],
): Promise<{ freed: FreedRun[]; stopped: StoppedRun[] }> {
  const { rows: keys } = await pool.query<KeyName>({ name: 'keys_of_ended', text: KEYS_OF_ENDED, values: [runIds] })
  if (keys.length === 0) return { freed: [], stopped: [] }
  return (await inKeyLocks(pool, keys, (client) => promoteKeys(client, keys)))!
}
