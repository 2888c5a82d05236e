/**
 * Adopt: take the expired lease of an attempt that an engine has, under a new epoch and without a new attempt. Only then is the engine
 * asked. Let go: end one's own lease early, so that another may adopt at once.
 *
 * Guard and change are one statement; rows that someone else is changing are skipped, so of many that adopt at once each attempt
 * goes to one. An attempt long past its deadline is not adopted any more and is left to reclaim: an engine that can never be
 * asked must not be handed on for ever.
 */

import type pg from 'pg'
import { LEASE_COLUMNS, type LeaseRow, leaseOfRow } from './lease-row.ts'
import type { Adopted, AdoptOptions, ExternalRef, Fence } from './ports/attempts.ts'

const ADOPT = `
WITH expired AS MATERIALIZED (
  SELECT r.id, r.lease_owner FROM model_runs r
  WHERE r.status = 'RUNNING' AND r.lease_expires_at < clock() AND r.lease_expires_at > $4::timestamptz
    AND r.executor = ANY ($5::text[]) AND ($6::text[] IS NULL OR r.model || '@' || r.model_version = ANY ($6))
    AND r.deadline_at > clock() - interval '5 minutes'
    AND EXISTS (SELECT FROM run_attempts a WHERE a.run_id = ANY (ARRAY[r.id]) AND a.attempt = r.attempt_count AND a.external_ref IS NOT NULL)
  ORDER BY r.lease_expires_at LIMIT $3 FOR UPDATE SKIP LOCKED
), adopted AS (
  UPDATE model_runs r SET lease_owner = $1, lease_epoch = r.lease_epoch + 1, heartbeat_at = clock(),
    lease_expires_at = clock() + $2 * interval '1 millisecond', event_seq = r.event_seq + 1
  FROM expired e WHERE r.id = ANY (ARRAY[e.id]) AND r.lease_owner IS NOT NULL
  RETURNING ${LEASE_COLUMNS}, r.event_seq, r.status, e.lease_owner AS holder_before,
    date_part('epoch', r.deadline_at - clock()) AS remaining_seconds
), followed AS (
  UPDATE run_attempts a SET worker_id = $1, lease_epoch = d.lease_epoch
  FROM adopted d WHERE a.run_id = ANY (ARRAY[d.id]) AND a.attempt = d.attempt_count
  RETURNING a.run_id, a.external_ref
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id, message, data)
  SELECT id, event_seq, 'adopted', clock(), status, attempt_count, $1, 'the lease expired; another worker goes on with the same attempt',
    jsonb_build_object('epoch', lease_epoch, 'holder_before', holder_before)
  FROM adopted
)
SELECT d.*, f.external_ref FROM adopted d JOIN followed f ON f.run_id = d.id`

const LET_GO = `
UPDATE model_runs r SET lease_expires_at = LEAST(r.lease_expires_at, clock())
FROM run_attempts a
WHERE r.id = $1 AND r.lease_epoch = $2 AND r.attempt_count = $3 AND r.lease_owner IS NOT NULL
  AND a.run_id = r.id AND a.attempt = r.attempt_count AND a.external_ref IS NOT NULL`

type AdoptedRow = LeaseRow & { external_ref: ExternalRef; holder_before: string; remaining_seconds: number }

/** Where a look starts and why is told in `reclaim.ts`, which looks at the same index. */
export function createAdopt(pool: pg.Pool, lookBackMs = 5_000) {
  let after = '-infinity'
  let lookBackAt = 0
  return async function adoptExpired(options: AdoptOptions): Promise<Adopted[]> {
    const { workerId, leaseMs, executors, limit, models } = options
    if (executors.length === 0 || limit <= 0) return []
    const startedAt = performance.now()
    const lookBack = startedAt >= lookBackAt
    const { rows: clock } = await pool.query<{ now: string }>(`SELECT (clock() - interval '10 seconds')::text AS now`)
    const offered = models?.map(({ model, version }) => `${model}@${version}`) ?? null
    const values = [workerId, leaseMs, limit, lookBack ? '-infinity' : after, executors, offered]
    const { rows } = await pool.query<AdoptedRow>({ name: 'adopt', text: ADOPT, values })
    if (lookBack) lookBackAt = performance.now() + Math.max(lookBackMs, 20 * (performance.now() - startedAt))
    if (rows.length < limit) after = clock[0]!.now
    return rows.map((row) => ({
      ...leaseOfRow(row),
      externalRef: row.external_ref,
      holderBefore: row.holder_before,
      remainingSeconds: row.remaining_seconds,
    }))
  }
}

export async function letGo(pool: pg.Pool, { runId, epoch, attempt }: Fence): Promise<boolean> {
  return (await pool.query(LET_GO, [runId, epoch, attempt])).rowCount === 1
}
