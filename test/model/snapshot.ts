/** Everything the model predicts about runs and names, read from the database and from the model in the same shape. */

import type pg from 'pg'
import type { Model, ModelRun } from './model.ts'

const RUNS = `
SELECT json_build_object('id', r.id, 'status', r.status, 'priority', r.priority, 'executor', r.executor,
  'attemptCount', r.attempt_count, 'releaseCount', r.release_count, 'reclaimCount', r.reclaim_count,
  'maxAttempts', r.max_attempts, 'leaseEpoch', r.lease_epoch, 'leaseOwner', r.lease_owner,
  'leaseExpiresAtMs', ms(r.lease_expires_at), 'deadlineAtMs', ms(r.deadline_at), 'availableAtMs', ms(r.available_at),
  'createdAtMs', ms(r.created_at), 'startedAtMs', ms(r.started_at), 'finishedAtMs', ms(r.finished_at),
  'cancelRequestedAtMs', ms(r.cancel_requested_at), 'eventSeq', r.event_seq,
  'lastError', r.last_error_class || ' in attempt ' || r.last_error_attempt,
  'resultHash', r.result_hash,
  'result', (SELECT result FROM run_results WHERE run_id = r.id),
  'attempts', (SELECT json_agg(json_build_object('attempt', a.attempt, 'state', a.state, 'workerId', a.worker_id,
      'epoch', a.lease_epoch, 'executor', a.executor, 'progress', a.progress,
      'ticket', encode(a.ticket_hash, 'hex'), 'token', encode(a.token_hash, 'hex'), 'isElsewhere', a.external_ref IS NOT NULL,
      'said', (SELECT o.outcome::json FROM attempt_outcomes o WHERE o.run_id = a.run_id AND o.attempt = a.attempt)) ORDER BY a.attempt)
    FROM run_attempts a WHERE a.run_id = r.id),
  'events', (SELECT json_agg(e.seq || ' ' || e.type || ' ' || e.status ORDER BY e.seq)
    FROM run_events e WHERE e.run_id = r.id)) AS run
FROM model_runs r WHERE r.id = ANY($1::uuid[])`.replaceAll(
  /\bms\(([^)]*)\)/g,
  '(extract(epoch FROM $1) * 1000)::float8',
)

const NAMES = `
SELECT kind || ' ' || key AS name, run_id AS "runId", payload_hash AS "payloadHash",
  (extract(epoch FROM expires_at) * 1000)::float8 AS "expiresAtMs"
FROM run_names WHERE owner = $1`

export type RunSnapshot = { id: string; [field: string]: unknown }
export type NameSnapshot = { name: string; runId: string; payloadHash: string; expiresAtMs: number }

/** `ids` are all that were ever asked for, so a run that should not exist is seen too. */
export async function readRuns(pool: pg.Pool, ids: string[]): Promise<RunSnapshot[]> {
  const { rows } = await pool.query<{ run: RunSnapshot }>({ name: 'snapshot_runs', text: RUNS, values: [ids] })
  return rows.map((row) => row.run).sort((a, b) => (a.id < b.id ? -1 : 1))
}

export async function readNames(pool: pg.Pool, owner: string): Promise<NameSnapshot[]> {
  const { rows } = await pool.query<NameSnapshot>({ name: 'snapshot_names', text: NAMES, values: [owner] })
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1))
}

export function modelRuns(model: Model): RunSnapshot[] {
  return [...model.runs.values()].map(snapshotOf).sort((a, b) => (a.id < b.id ? -1 : 1))
}

export function modelNames(model: Model): NameSnapshot[] {
  return [...model.names].map(([name, taken]) => ({ name, ...taken })).sort((a, b) => (a.name < b.name ? -1 : 1))
}

function snapshotOf({ request, state, ...run }: ModelRun): RunSnapshot {
  return {
    id: request.id,
    status: state.status,
    priority: request.priority,
    executor: run.executor,
    attemptCount: state.attemptCount,
    releaseCount: state.releaseCount,
    reclaimCount: run.reclaimCount,
    maxAttempts: state.maxAttempts,
    leaseEpoch: state.leaseEpoch,
    leaseOwner: state.leaseOwner,
    leaseExpiresAtMs: state.leaseExpiresAtMs,
    deadlineAtMs: state.status === 'RUNNING' ? run.deadlineAtMs : null,
    availableAtMs: state.availableAtMs,
    createdAtMs: run.createdAtMs,
    startedAtMs: run.startedAtMs,
    finishedAtMs: run.finishedAtMs,
    cancelRequestedAtMs: run.cancelRequestedAtMs,
    eventSeq: state.eventSeq,
    lastError: run.lastError,
    resultHash: state.resultHash,
    result: run.result,
    attempts:
      run.attempts.length === 0
        ? null
        : run.attempts.map(({ isReclaimed: _, ...attempt }, index) => ({
            attempt: index + 1,
            state: state.attempts[index],
            ...attempt,
          })),
    events: run.events.map((event, index) => `${index + 1} ${event}`),
  }
}
