/**
 * What one would write by hand: the rows of `DESIGN.md` section 5 (run, slot, event; lease, attempt, event; result,
 * event) and the indexes people need, in the fewest statements, without checks, triggers, lanes, heartbeats, logs or
 * metrics. It shows what those rows cost on this machine.
 */

import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import pg from 'pg'
import { createRunIds } from '../src/api/run-id.ts'
import type { Aim, Contender, WorkerHooks } from './contender.ts'

const BATCH = 500
const LOOPS = 2
const CALLERS = 20
const POLL_MS = 1_000
const RESULT = 'null'
const RESULT_HASH = sha256(RESULT)

const SCHEMA = `
CREATE TABLE runs (
  id uuid PRIMARY KEY, status text NOT NULL DEFAULT 'PENDING', owner text NOT NULL DEFAULT 'default',
  model text NOT NULL DEFAULT 'noop', model_version text NOT NULL DEFAULT '1', queue text NOT NULL DEFAULT 'default',
  priority smallint NOT NULL DEFAULT 0, executor text NOT NULL DEFAULT 'inline', parameters jsonb NOT NULL,
  payload_hash text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
  available_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz, finished_at timestamptz, attempt_count integer NOT NULL DEFAULT 0,
  lease_owner text, lease_expires_at timestamptz, lease_epoch integer NOT NULL DEFAULT 0, heartbeat_at timestamptz,
  event_seq integer NOT NULL DEFAULT 1, result_ref text, result_hash text);
CREATE INDEX ON runs (queue, priority DESC, available_at, id) WHERE status = 'PENDING';
CREATE INDEX ON runs (status, created_at);
CREATE INDEX ON runs USING hash (payload_hash);
CREATE INDEX ON runs (lease_expires_at) WHERE status = 'RUNNING';
CREATE TABLE attempts (run_id uuid, attempt integer, state text NOT NULL, worker_id text NOT NULL,
  started_at timestamptz NOT NULL, finished_at timestamptz, PRIMARY KEY (run_id, attempt));
CREATE TABLE events (run_id uuid, seq integer, type text NOT NULL, at timestamptz NOT NULL, attempt integer,
  worker_id text, PRIMARY KEY (run_id, seq));
CREATE TABLE results (run_id uuid PRIMARY KEY, attempt integer NOT NULL, result json NOT NULL);
CREATE TABLE slots (owner text, payload_hash text, run_id uuid NOT NULL, expires_at timestamptz NOT NULL,
  PRIMARY KEY (owner, payload_hash));`

const SUBMIT = `
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[]) AS i(id, parameters, payload_hash)
), slot AS (
  INSERT INTO slots SELECT 'default', payload_hash, id, now() + interval '10 minutes' FROM item ORDER BY payload_hash
  ON CONFLICT DO NOTHING RETURNING run_id
), created AS (
  INSERT INTO runs (id, parameters, payload_hash)
  SELECT id, parameters::jsonb, payload_hash FROM item WHERE id IN (SELECT run_id FROM slot) RETURNING id
), event AS (INSERT INTO events SELECT id, 1, 'created', now() FROM created)`

const ANSWERS: Record<Aim, string> = {
  throughput: 'SELECT count(*) FROM created',
  latency: `SELECT pg_notify('runs', '') FROM created LIMIT 1`,
}

const CLAIM = `
WITH picked AS MATERIALIZED (
  SELECT id FROM runs WHERE queue = 'default' AND status = 'PENDING' AND available_at <= now()
  ORDER BY priority DESC, available_at, id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE runs r SET status = 'RUNNING', lease_owner = $1, lease_epoch = lease_epoch + 1, heartbeat_at = now(),
    lease_expires_at = now() + interval '60 seconds', attempt_count = attempt_count + 1,
    started_at = COALESCE(started_at, now()), event_seq = event_seq + 1
  FROM picked WHERE r.id = picked.id RETURNING r.*
), attempt AS (INSERT INTO attempts SELECT id, attempt_count, 'RUNNING', $1, now() FROM claimed
), event AS (INSERT INTO events SELECT id, event_seq, 'started', now(), attempt_count, $1 FROM claimed)
SELECT id, lease_epoch, parameters FROM claimed`

const SETTLE = `
WITH item AS MATERIALIZED (SELECT * FROM unnest($2::uuid[], $3::int[]) AS i(id, epoch)
), settled AS (
  UPDATE runs r SET status = 'SUCCEEDED', finished_at = now(), lease_owner = NULL, lease_expires_at = NULL,
    result_ref = 'inline', result_hash = $4, event_seq = event_seq + 1
  FROM item i WHERE r.id = i.id AND r.lease_owner = $1 AND r.lease_epoch = i.epoch
  RETURNING r.id, r.attempt_count, r.event_seq
), attempt AS (
  UPDATE attempts a SET state = 'SUCCEEDED', finished_at = now() FROM settled s
  WHERE a.run_id = s.id AND a.attempt = s.attempt_count
), result AS (INSERT INTO results SELECT id, attempt_count, $5::json FROM settled
), event AS (INSERT INTO events SELECT id, event_seq, 'succeeded', now(), attempt_count, $1 FROM settled)
SELECT id FROM settled`

/** Without these the planner reads whole tables after an ANALYZE that saw no run in some state. */
const PRODUCER_SESSION = 'SET plan_cache_mode = force_generic_plan'
const NO_SCANS = ['seqscan', 'hashjoin', 'mergejoin'].map((kind) => `SET enable_${kind} = off`)
const WORKER_SESSION = [PRODUCER_SESSION, ...NO_SCANS].join('; ')

export const contender: Contender = {
  name: 'hand-written',
  settings:
    `SQL for the same rows; ${LOOPS} loops of claim and settle in batches of ${BATCH}; ` +
    'no checks, heartbeats, logs or metrics',

  async install({ url }) {
    const pool = openPool(url, 1, PRODUCER_SESSION)
    await pool.query(SCHEMA)
    await pool.end()
  },

  async openProducer({ url }, aim) {
    const pool = openPool(url, CALLERS, PRODUCER_SESSION)
    const nextRunId = createRunIds()
    const text = `${SUBMIT} ${ANSWERS[aim]}`

    async function submitMany(numbers: number[]): Promise<void> {
      const ids = numbers.map(nextRunId)
      const parameters = numbers.map((n) => `{"n":${n}}`)
      await pool.query({ name: 'submit', text, values: [ids, parameters, parameters.map(sha256)] })
    }
    return { submit: (n) => submitMany([n]), submitMany, close: () => pool.end() }
  },

  async startWorker({ url }, aim, hooks) {
    const pool = openPool(url, LOOPS, WORKER_SESSION)
    const hints = new EventEmitter()
    if (aim === 'latency') await listen(url, () => hints.emit('hint'))
    for (let loop = 0; loop < LOOPS; loop += 1) void work(pool, `worker-${process.pid}-${loop}`, hints, hooks)
  },

  drainedQuery: `SELECT NOT EXISTS (SELECT FROM runs WHERE status IN ('PENDING', 'RUNNING'))`,
}

async function work(pool: pg.Pool, workerId: string, hints: EventEmitter, hooks: WorkerHooks): Promise<void> {
  let hinted = false
  let wake = () => {}
  hints.on('hint', () => {
    hinted = true
    wake()
  })
  for (;;) {
    hinted = false
    const { rows } = await pool.query({ name: 'claim', text: CLAIM, values: [workerId] })
    for (const { parameters } of rows) hooks.onStart(parameters.n)
    if (rows.length > 0) await settle(pool, workerId, rows)
    else if (!hinted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    for (let done = 0; done < rows.length; done += 1) hooks.onDone()
  }
}

async function settle(pool: pg.Pool, workerId: string, rows: { id: string; lease_epoch: number }[]): Promise<void> {
  const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const values = [workerId, sorted.map((row) => row.id), sorted.map((row) => row.lease_epoch), RESULT_HASH, RESULT]
  const settled = await pool.query({ name: 'settle', text: SETTLE, values })
  if (settled.rowCount !== rows.length) throw new Error('a run was lost')
}

async function listen(url: string, onHint: () => void): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  client.on('notification', onHint)
  await client.query('LISTEN runs')
}

function openPool(url: string, max: number, settings: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    idleTimeoutMillis: 0,
    onConnect: async (client: pg.ClientBase) => void (await client.query(settings)),
  })
  // An idle connection may end with its database.
  pool.on('error', () => {})
  return pool
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
