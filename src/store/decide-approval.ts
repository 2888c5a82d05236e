/**
 * Approve and reject: an operator's word on a run that waits for it.
 *
 * Each is one guarded statement: the row of the block is deleted or changed only while the run is PENDING, and with the run's row locked
 * first, as in a cancel; whoever comes second finds nothing. What was decided is an event of the run and of the audit, in the same
 * statement. A run with a concurrency key joins the line of the key when it is approved, under the key's lock, and starts at once when
 * there is a place.
 */

import type pg from 'pg'
import type { RunKey } from '../run/runs-per-key.ts'
import { inKeyLocks, insertHolds } from './key-places.ts'
import type { Decided, Decision, FreedRun, StoppedRun } from './ports/blocks.ts'
import { cancelOlder, promoteKeys } from './promote-keys.ts'
import { RUN_COLUMNS, type RunRow, runOfRow } from './run-row.ts'
import type { Run } from './store.ts'

const TARGET = `
target AS MATERIALIZED (
  SELECT r.id FROM model_runs r JOIN run_blocks b ON b.run_id = r.id
  WHERE r.id = $1 AND r.status = 'PENDING' AND b.reason = 'approval' AND ($2::text IS NULL OR r.owner = $2) FOR UPDATE OF r
)`

// $3: token of who decides, $4: name, $5: request, $6: what they said.
const audited = (action: string) => `
audited AS (
  INSERT INTO audit_events (actor_token, actor_owner, action, target, data, request_id)
  SELECT $3, $4, '${action}', id::text, jsonb_build_object('reason', $6::text, 'rule', rule), $5 FROM decided
)`

const EVENT_DATA = `jsonb_build_object('by', $4::text, 'reason', $6::text, 'rule', rule)`

// $7: the run has a concurrency key, and goes on waiting for a place of it.
const APPROVE = `
WITH ${TARGET}, let_go AS (
  DELETE FROM run_blocks b USING target t WHERE NOT $7 AND b.run_id = t.id AND b.reason = 'approval'
  RETURNING b.run_id, b.start_at, b.detail->'rule' AS rule
), in_line AS (
  UPDATE run_blocks b SET reason = 'concurrency', since = clock(), detail = '{}' FROM target t, run_blocks was
  WHERE $7 AND b.run_id = t.id AND was.run_id = t.id AND b.reason = 'approval'
  RETURNING b.run_id, was.detail->'rule' AS rule
), decided AS (
  UPDATE model_runs r SET event_seq = r.event_seq + 1,
    available_at = CASE WHEN d.is_free THEN GREATEST(d.start_at, clock()) ELSE r.available_at END
  FROM (SELECT run_id, rule, start_at, true AS is_free FROM let_go UNION ALL SELECT run_id, rule, NULL, false FROM in_line) d
  WHERE r.id = d.run_id
  RETURNING r.*, d.rule
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, message, data)
  SELECT id, event_seq, 'approved', clock(), status, COALESCE($6, 'approved by ' || $4), ${EVENT_DATA} FROM decided
), ${audited('run.approve')}
SELECT ${RUN_COLUMNS} FROM decided`

const REJECT = `
WITH ${TARGET}, block AS (
  DELETE FROM run_blocks b USING target t WHERE b.run_id = t.id AND b.reason = 'approval'
  RETURNING b.run_id, b.detail->'rule' AS rule
), decided AS (
  UPDATE model_runs r SET status = 'CANCELLED', finished_at = clock(), cancel_requested_at = clock(), event_seq = r.event_seq + 2,
    last_error_class = 'Rejected', last_error = $7, last_error_attempt = 0
  FROM block b WHERE r.id = b.run_id
  RETURNING r.*, b.rule
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, message, data)
  SELECT id, event_seq - 1, 'rejected', clock(), run_status 'PENDING', $7, ${EVENT_DATA} FROM decided
  UNION ALL
  SELECT id, event_seq, 'cancelled', clock(), 'CANCELLED', $7, NULL FROM decided
), ${audited('run.reject')}
SELECT ${RUN_COLUMNS} FROM decided`

// Who asks for the same again gets the run as it is.
const READ = `
SELECT ${RUN_COLUMNS}, EXISTS (SELECT FROM run_events e WHERE e.run_id = model_runs.id AND e.type = $3) AS is_repeated
FROM model_runs WHERE id = $1 AND ($2::text IS NULL OR owner = $2)`

const READ_KEY = `
SELECT b.detail->'key' AS asked, b.start_at, COALESCE(b.start_at > clock(), false) AS is_later, r.priority
FROM run_blocks b JOIN model_runs r ON r.id = b.run_id
WHERE b.run_id = $1 AND b.reason = 'approval' AND ($2::text IS NULL OR r.owner = $2)`

type KeyRow = { asked: RunKey | null; start_at: Date | null; is_later: boolean; priority: number }

export async function approveRun(pool: pg.Pool, decision: Decision): Promise<Decided> {
  const { runId, sees } = decision
  const { rows } = await pool.query<KeyRow>(READ_KEY, [runId, sees])
  const key = rows[0]?.asked ?? null
  const done = await inKeyLocks(pool, key ? [key] : [], async (client) => {
    const approved = await decide(client, APPROVE, decision, key !== null)
    if (!approved) return null
    return key ? joinLine(client, { run: approved, key, row: rows[0]! }) : freedAlone(approved)
  })
  return done ? { outcome: 'done', ...done } : answerOpen(pool, decision, 'approved')
}

export async function rejectRun(pool: pg.Pool, decision: Decision): Promise<Decided> {
  const said = decision.reason ?? `rejected by ${decision.actor.owner}`
  const run = await decide(pool, REJECT, decision, said)
  return run ? { outcome: 'done', run, freed: [], stopped: [] } : answerOpen(pool, decision, 'rejected')
}

async function decide(
  db: pg.Pool | pg.ClientBase,
  text: string,
  { runId, sees, actor, reason }: Decision,
  more: unknown,
): Promise<Run | null> {
  const values = [runId, sees, actor.tokenId, actor.owner, actor.requestId, reason, more]
  const { rows } = await db.query<RunRow>(text, values)
  return rows[0] ? runOfRow(rows[0]) : null
}

type Done = { run: Run; freed: FreedRun[]; stopped: StoppedRun[] }

function freedAlone(run: Run): Done {
  return { run, freed: [{ runId: run.id, queue: run.queue }], stopped: [] }
}

async function joinLine(
  client: pg.ClientBase,
  { run, key, row }: { run: Run; key: RunKey; row: KeyRow },
): Promise<Done> {
  const state = row.is_later ? 'scheduled' : 'waiting'
  const arrivesAt = row.is_later ? row.start_at : null
  await insertHolds(client, [{ ...key, runId: run.id, state, priority: row.priority, arrivesAt }])
  if (row.is_later) return { run, freed: [], stopped: [] }
  const stopped = key.mode === 'cancel_older' ? await cancelOlder(client, { ...key, runId: run.id }) : []
  const given = await promoteKeys(client, [key])
  return { run, freed: given.freed, stopped: [...stopped, ...given.stopped] }
}

async function answerOpen(pool: pg.Pool, { runId, sees }: Decision, event: string): Promise<Decided> {
  const { rows } = await pool.query<RunRow & { is_repeated: boolean }>(READ, [runId, sees, event])
  if (!rows[0]) return { outcome: 'not-found' }
  const run = runOfRow(rows[0])
  if (rows[0].is_repeated) return { outcome: 'done', run, freed: [], stopped: [] }
  return { outcome: run.finishedAt ? 'finished' : 'not-waiting', run }
}
