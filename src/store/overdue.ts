/**
 * Overdue: attempts that have been running for three times as long as expected.
 *
 * The statement looks at leases that are held, by their index, and at the attempt of those whose run began long enough ago. The key of the
 * flag decides who was first, and only who was first writes the event; so any number of janitors may look at once. A run that changes
 * hands in between is skipped and looked at again in the next round.
 */

import type pg from 'pg'
import { OVERDUE_PER_EXPECTED } from '../run/overdue.ts'
import type { Overdue, OverdueRun } from './ports/overdue.ts'

const LATE = `r.expected_seconds * ${OVERDUE_PER_EXPECTED} * interval '1 second'`
// What an engine has not begun is counted from its submission: that is when a person began to wait for it.
const BEGAN_AT = 'COALESCE(a.started_at, a.submitted_at)'

// When the run has changed since the statement began, Postgres tests the joined attempt against the new row, so an attempt is never flagged
// for its successor.
export const FLAG_OVERDUE = `
WITH late AS MATERIALIZED (
  SELECT r.id, a.attempt, ${BEGAN_AT} AS began_at, ${BEGAN_AT} + ${LATE} AS since
  FROM model_runs r JOIN run_attempts a ON a.run_id = ANY (ARRAY[r.id]) AND a.attempt = r.attempt_count
  WHERE r.status = 'RUNNING' AND r.lease_expires_at > clock() AND r.started_at <= clock() - ${LATE}
    AND ${BEGAN_AT} <= clock() - ${LATE}
    AND NOT EXISTS (SELECT FROM run_overdue o WHERE o.run_id = r.id AND o.attempt = r.attempt_count)
  LIMIT $1 FOR UPDATE OF r SKIP LOCKED
), flagged AS (
  INSERT INTO run_overdue (run_id, attempt, since)
  SELECT id, attempt, since FROM late ON CONFLICT DO NOTHING
  RETURNING run_id, attempt
), counted AS (
  UPDATE model_runs r SET event_seq = r.event_seq + 1 FROM flagged f WHERE r.id = ANY (ARRAY[f.run_id])
  RETURNING r.id, r.event_seq, r.attempt_count, r.lease_owner, r.model, r.queue, r.executor, r.payload_hash, r.expected_seconds
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id, message, data)
  SELECT id, event_seq, 'overdue', clock(), 'RUNNING', attempt_count, lease_owner,
    'running for more than ' || ${OVERDUE_PER_EXPECTED} || ' times the expected duration',
    jsonb_build_object('expected_seconds', expected_seconds)
  FROM counted
)
SELECT c.id AS "runId", c.attempt_count AS attempt, c.lease_owner AS "workerId", c.model, c.queue, c.executor,
  c.payload_hash AS "payloadHash", c.expected_seconds AS "expectedSeconds",
  extract(epoch FROM clock() - late.began_at)::float8 AS "runningSeconds"
FROM counted c JOIN late ON late.id = c.id`

// A run with a lease is RUNNING. To ask for the status would let the planner take the index of all that is running for each flag.
const IS_RUNNING = `
  (SELECT true FROM model_runs r
    WHERE r.id = o.run_id AND r.lease_owner IS NOT NULL AND r.attempt_count = o.attempt LIMIT 1) IS NOT NULL`

export const FORGET_OVERDUE = `
DELETE FROM run_overdue WHERE (run_id, attempt) IN (
  SELECT run_id, attempt FROM run_overdue o WHERE NOT ${IS_RUNNING} LIMIT $1)`

const COUNT_OVERDUE = `SELECT count(*)::int AS count FROM run_overdue o WHERE ${IS_RUNNING}`

/** `pinned`: with plans for look-ups by index. */
export function createOverdue(pinned: pg.Pool, answered: <T>(asked: Promise<T>) => Promise<T>): Overdue {
  return {
    async flag(limit) {
      const asked = pinned.query<OverdueRun>({ name: 'flag_overdue', text: FLAG_OVERDUE, values: [limit] })
      return (await asked).rows
    },
    async forget(limit) {
      return (await pinned.query({ name: 'forget_overdue', text: FORGET_OVERDUE, values: [limit] })).rowCount ?? 0
    },
    async count() {
      return (await answered(pinned.query<{ count: number }>(COUNT_OVERDUE))).rows[0]!.count
    },
  }
}
