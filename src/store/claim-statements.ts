/**
 * The statements of a claim: pick runs that may start, lock them with SKIP LOCKED, and make them RUNNING under a new epoch, with their
 * attempt and event rows.
 *
 * With several lanes each is peeked at first without locks, to share the free slots out by priority and age. With one lane, which is what
 * most workers have most of the time, there is nothing to share, and the statement is much cheaper to start.
 *
 * The caller says which lanes there are. A lane that is younger than those it knows could go before them, so then nothing is picked and
 * the caller looks again.
 */

import { THIS_XID } from './this-xid.ts'

// Of the places to start after: a lane has none, or one that the last claim ended at.
export const AFTER_AT = (column: string) =>
  `COALESCE(timestamptz 'epoch' + ${column} * interval '1 microsecond', '-infinity')`
export const AFTER_ID = (column: string) => `COALESCE(${column}, '00000000-0000-0000-0000-000000000000')`

export const ready = (lane: string, afterAt: string, afterId: string) => `
  WHERE lane = ${lane} AND status = 'PENDING' AND available_at <= clock() AND (available_at, id) > (${afterAt}, ${afterId})`

export const notPaused = (queue: string) => `NOT EXISTS (SELECT FROM queues p WHERE p.queue = ${queue} AND p.paused)`
const KNOWS_ALL_LANES = 'NOT EXISTS (SELECT FROM lanes WHERE lane > $2)'

// $1: slots, $2: the youngest lane the caller knows, then of the lane: number, queue, place.
const PICK_ONE_LANE = `
WITH picked AS MATERIALIZED (
  SELECT id, ctid AS row FROM model_runs
  ${ready('$3::int', AFTER_AT('$5::bigint'), AFTER_ID('$6::uuid'))} AND ${notPaused('$4::text')} AND ${KNOWS_ALL_LANES}
  ORDER BY available_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
)`

// $1 and $2 as above, then of each lane: number, queue, place, priority, number of its model, and how many runs its queue and its model have room for.
const PICK_LANES = `
WITH line AS MATERIALIZED (
  SELECT l.lane, l.queue, l.priority, l.model, l.queue_room, l.model_room, ${AFTER_AT('l.at_us')} AS after_at, ${AFTER_ID('l.id')} AS after_id
  FROM unnest($3::int[], $4::text[], $5::bigint[], $6::uuid[], $7::smallint[], $8::int[], $9::int[], $10::int[])
    AS l(lane, queue, at_us, id, priority, model, queue_room, model_room)
  WHERE ${notPaused('l.queue')} AND ${KNOWS_ALL_LANES}
), peek AS (
  SELECT line.*, r.id, r.available_at,
    row_number() OVER (PARTITION BY line.model ORDER BY line.priority DESC, r.available_at, r.id) AS model_place
  FROM line CROSS JOIN LATERAL (
    SELECT id, available_at FROM model_runs
    ${ready('line.lane', 'line.after_at', 'line.after_id')}
    ORDER BY available_at, id LIMIT LEAST($1, line.queue_room, line.model_room)
  ) r
), fits AS (
  SELECT *, row_number() OVER (PARTITION BY queue ORDER BY priority DESC, available_at, id) AS queue_place
  FROM peek WHERE model_room IS NULL OR model_place <= model_room
), share AS MATERIALIZED (
  SELECT lane, after_at, after_id, count(*) AS runs FROM (
    SELECT * FROM fits WHERE queue_room IS NULL OR queue_place <= queue_room ORDER BY priority DESC, available_at, id LIMIT $1
  ) best GROUP BY lane, after_at, after_id
), picked AS MATERIALIZED (
  SELECT r.id, r.row FROM share CROSS JOIN LATERAL (
    SELECT id, ctid AS row FROM model_runs
    ${ready('share.lane', 'share.after_at', 'share.after_id')}
    ORDER BY available_at, id LIMIT share.runs FOR UPDATE SKIP LOCKED
  ) r
)`

/** What is done with the rows that were picked. */
export const makeRunning = (workerId: string, leaseMs: string, engines: string, rows = 'SELECT row FROM picked') => `
claimed AS (
  UPDATE model_runs r SET status = 'RUNNING', lease_owner = ${workerId}, lease_epoch = r.lease_epoch + 1,
    lease_expires_at = clock() + ${leaseMs} * interval '1 millisecond', heartbeat_at = clock(),
    deadline_at = clock() + r.timeout_seconds * interval '1 second',
    attempt_count = r.attempt_count + 1, started_at = COALESCE(r.started_at, clock()), event_seq = r.event_seq + 1,
    -- A run that took its worker down once goes on alone, in a child process, so that it can only kill itself.
    executor = CASE WHEN r.reclaim_count > 0 AND r.executor = 'inline' THEN 'process' ELSE r.executor END
  WHERE r.ctid = ANY (ARRAY(${rows}))
  RETURNING r.id, r.lane, r.available_at, r.lease_epoch, r.attempt_count, r.event_seq, r.owner, r.model, r.model_version,
    r.queue, r.executor, r.parameters, r.payload_hash, r.seed, r.timeout_seconds, r.max_attempts, r.release_count, r.reclaim_count,
    r.created_at, r.started_at, r.ctid AS row
), attempted AS (
  INSERT INTO run_attempts (id, run_id, attempt, state, executor, worker_id, lease_epoch, submitted_at, started_at)
  -- Nearly every attempt is the first of its run and can share its id, which is as unique; a random one costs more than the rest of the row.
  SELECT CASE attempt_count WHEN 1 THEN id ELSE gen_random_uuid() END, id, attempt_count, CASE WHEN executor = ANY (${engines}::text[]) THEN attempt_state 'SUBMITTED' ELSE 'RUNNING' END, executor,
    ${workerId}, lease_epoch, clock(), CASE WHEN executor = ANY (${engines}::text[]) THEN NULL ELSE clock() END
  FROM claimed
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id, xid)
  SELECT id, event_seq, 'started', clock(), 'RUNNING', attempt_count, ${workerId}, ${THIS_XID} FROM claimed
)`

export const CLAIMED_COLUMNS = `id, lane, round(date_part('epoch', available_at) * 1000000)::bigint AS available_at_us, lease_epoch, attempt_count, owner, model,
  model_version, queue, executor, parameters, payload_hash, seed, timeout_seconds, max_attempts, release_count, reclaim_count,
  date_part('epoch', started_at - created_at) AS queued_seconds, date_part('epoch', clock() - started_at) AS started_seconds, row`

const take = (workerId: string, leaseMs: string, engines: string) => `${makeRunning(workerId, leaseMs, engines)}
SELECT ${CLAIMED_COLUMNS}
FROM claimed`

// The same runs in the same order, only named, with their places.
export const NAMED_COLUMNS = `r.id, r.lane, round(date_part('epoch', r.available_at) * 1000000)::bigint AS available_at_us`
const NAME_PICKED = `SELECT ${NAMED_COLUMNS} FROM picked JOIN model_runs r USING (id)`

/** Each with the worker, the length of the lease in milliseconds and the names of engines as its last parameters. */
export const ONE_LANE = {
  claim: { name: 'claim_one_lane', text: `${PICK_ONE_LANE}, ${take('$7', '$8', '$9')}` },
  pick: `${PICK_ONE_LANE} ${NAME_PICKED}`,
}
export const SEVERAL_LANES = {
  claim: { name: 'claim', text: `${PICK_LANES}, ${take('$11', '$12', '$13')}` },
  pick: `${PICK_LANES} ${NAME_PICKED}`,
}

export const CLAIM_ONE_RUN = {
  text: `
WITH picked AS MATERIALIZED (
  SELECT id, ctid AS row FROM model_runs WHERE id = $1 AND status = 'PENDING' AND available_at <= clock() FOR UPDATE SKIP LOCKED
), ${take('$2', '$3', '$4')}`,
}
