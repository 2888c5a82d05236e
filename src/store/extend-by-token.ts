/**
 * The heartbeat of code that runs elsewhere. A remote worker's extends its lease, by the rules of every heartbeat; that of an engine's
 * job answers only: its lease is the worker's, and must end with the worker for another to adopt the job.
 */

import type pg from 'pg'
import { findByToken } from './open-attempt.ts'

const EXTEND = `
UPDATE model_runs r SET heartbeat_at = clock(), lease_expires_at = GREATEST(r.lease_expires_at,
    LEAST(clock() + $3 * interval '1 millisecond', r.deadline_at + $4 * interval '1 millisecond'))
FROM run_attempts a
WHERE r.id = $1 AND r.lease_owner IS NOT NULL AND a.run_id = r.id AND a.attempt = r.attempt_count AND a.token_hash = $2
  AND a.external_ref IS NULL AND a.finished_at IS NULL
RETURNING r.cancel_requested_at IS NOT NULL AS cancel_requested, r.lease_expires_at, r.deadline_at`

export type Extended = { cancelRequested: boolean; leaseExpiresAt: Date; deadlineAt: Date }

export async function extendByToken(
  pool: pg.Pool,
  runId: string,
  tokenHash: Buffer,
  { leaseMs, deadlineGraceMs }: { leaseMs: number; deadlineGraceMs: number },
): Promise<Extended | null> {
  const { rows } = await pool.query<{ cancel_requested: boolean; lease_expires_at: Date; deadline_at: Date }>({
    name: 'extend_by_token',
    text: EXTEND,
    values: [runId, tokenHash, leaseMs, deadlineGraceMs],
  })
  const row = rows[0]
  if (row) {
    return {
      cancelRequested: row.cancel_requested,
      leaseExpiresAt: row.lease_expires_at,
      deadlineAt: row.deadline_at,
    }
  }
  const found = await findByToken(pool, runId, tokenHash)
  if (!found?.externalRef) return null
  const { cancelRequested, leaseExpiresAt, deadlineAt } = found
  return { cancelRequested, leaseExpiresAt, deadlineAt }
}
