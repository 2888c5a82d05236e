/**
 * Hands claimed attempts to a remote worker, all of one answer in one statement: notes the hash of each attempt's token
 * and answers when the lease ends and the attempt is due. An attempt whose lease was lost meanwhile is left out.
 */

import type pg from 'pg'
import type { Fence } from './ports/attempts.ts'
import type { LeaseTimes } from './ports/remote.ts'

const HAND = `
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::int[], $3::int[], $4::bytea[]) AS i(run_id, epoch, attempt, token_hash)
), handed AS (
  UPDATE run_attempts a SET token_hash = i.token_hash, executor = 'remote'
  FROM item i
  WHERE a.run_id = ANY (ARRAY[i.run_id]) AND a.attempt = i.attempt AND a.lease_epoch = i.epoch AND a.finished_at IS NULL
    AND a.token_hash IS NULL
  RETURNING a.run_id
)
SELECT r.id, r.lease_expires_at, r.deadline_at FROM handed h JOIN model_runs r ON r.id = h.run_id
WHERE r.lease_expires_at IS NOT NULL`

export async function handLeases(
  pool: pg.Pool,
  leases: { fence: Fence; tokenHash: Buffer }[],
): Promise<Map<string, LeaseTimes>> {
  const sorted = leases.toSorted((a, b) => (a.fence.runId < b.fence.runId ? -1 : 1))
  const { rows } = await pool.query<{ id: string; lease_expires_at: Date; deadline_at: Date }>({
    name: 'hand_leases',
    text: HAND,
    values: [
      sorted.map(({ fence }) => fence.runId),
      sorted.map(({ fence }) => fence.epoch),
      sorted.map(({ fence }) => fence.attempt),
      sorted.map(({ tokenHash }) => tokenHash),
    ],
  })
  return new Map(rows.map((row) => [row.id, { leaseExpiresAt: row.lease_expires_at, deadlineAt: row.deadline_at }]))
}
