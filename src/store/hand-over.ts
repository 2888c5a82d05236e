/**
 * Hand over: note where an attempt goes and how its code will prove itself, before it is asked to run there.
 *
 * To an engine goes a ticket, which its job trades for a token. Whoever adopts an attempt whose job never came to be hands it over
 * again, with another ticket, as long as none was traded. A remote worker has its token at once. The same again is a repeated
 * request and changes nothing.
 */

import type pg from 'pg'
import type { ExternalRef, Fence, HandOver } from './ports/attempts.ts'

const TO_ENGINE = `
WITH held AS (
  UPDATE model_runs r SET event_seq = r.event_seq + 1
  FROM run_attempts a
  WHERE r.id = $1 AND r.lease_epoch = $2 AND r.attempt_count = $3 AND r.lease_owner IS NOT NULL
    AND a.run_id = r.id AND a.attempt = r.attempt_count AND a.token_hash IS NULL AND a.ticket_hash IS DISTINCT FROM $5
  RETURNING r.id, r.event_seq, r.status, r.attempt_count, r.lease_owner
), noted AS (
  UPDATE run_attempts a SET external_ref = $4, ticket_hash = $5 FROM held h WHERE a.run_id = h.id AND a.attempt = h.attempt_count
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id, data)
  SELECT id, event_seq, 'submitted', clock(), status, attempt_count, lease_owner, jsonb_build_object('external_ref', $4::jsonb)
  FROM held
)
SELECT FROM held`

const READ_TICKET = `
SELECT ticket_hash = $4 AS repeated FROM run_attempts
WHERE run_id = $1 AND lease_epoch = $2 AND attempt = $3 AND finished_at IS NULL`

const TO_REMOTE = `
UPDATE run_attempts SET token_hash = $4, executor = 'remote'
WHERE run_id = $1 AND lease_epoch = $2 AND attempt = $3 AND finished_at IS NULL AND (token_hash IS NULL OR token_hash = $4)`

const STARTED = `
WITH held AS (
  UPDATE model_runs r SET event_seq = r.event_seq + 1
  FROM run_attempts a
  WHERE r.id = $1 AND r.lease_epoch = $2 AND r.attempt_count = $3 AND r.lease_owner IS NOT NULL
    AND a.run_id = r.id AND a.attempt = r.attempt_count AND a.state = 'SUBMITTED'
  RETURNING r.id, r.event_seq, r.status, r.attempt_count, r.lease_owner
), begun AS (
  UPDATE run_attempts a SET state = 'RUNNING', started_at = clock() FROM held h WHERE a.run_id = h.id AND a.attempt = h.attempt_count
)
INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id)
SELECT id, event_seq, 'running', clock(), status, attempt_count, lease_owner FROM held`

const NOTE_REF = `
UPDATE run_attempts SET external_ref = $4
WHERE run_id = $1 AND lease_epoch = $2 AND attempt = $3 AND finished_at IS NULL AND external_ref IS DISTINCT FROM $4::jsonb`

export async function handOver(pool: pg.Pool, { runId, epoch, attempt }: Fence, to: HandOver): Promise<boolean> {
  const fence = [runId, epoch, attempt]
  if (!to.engine) return (await pool.query(TO_REMOTE, [...fence, to.tokenHash])).rowCount === 1
  const noted = await pool.query(TO_ENGINE, [...fence, JSON.stringify(to.externalRef), to.ticketHash])
  if (noted.rowCount === 1) return true
  const { rows } = await pool.query<{ repeated: boolean | null }>(READ_TICKET, [...fence, to.ticketHash])
  if (rows[0] && !rows[0].repeated)
    throw new Error('the job of this attempt has traded its ticket: it is not handed over again')
  return rows.length === 1
}

export async function started(pool: pg.Pool, { runId, epoch, attempt }: Fence, ref?: ExternalRef): Promise<void> {
  const fence = [runId, epoch, attempt]
  await pool.query(STARTED, fence)
  if (ref) await pool.query(NOTE_REF, [...fence, JSON.stringify(ref)])
}
