/**
 * Heartbeat: extend all leases of a worker by epoch and learn, per run, whether it is still held or asked to stop.
 *
 * A lease is never extended past the attempt's deadline and grace, and never shortened. A run that is missing from the answer
 * is lost. The worker's presence is written in the same statement. Called from the heartbeat thread on its own connection.
 */

import type pg from 'pg'
import type { HeartbeatAnswer } from './store.ts'

// Ids arrive sorted and are looked up one by one, as in settle.
const BEAT = `
WITH seen AS (
  UPDATE workers SET last_seen_at = clock() WHERE worker_id = $1
), item AS MATERIALIZED (
  SELECT * FROM unnest($2::uuid[], $3::int[]) AS i(id, epoch)
)
UPDATE model_runs r SET heartbeat_at = clock(), lease_expires_at = GREATEST(r.lease_expires_at,
    LEAST(clock() + $4 * interval '1 millisecond', r.deadline_at + $5 * interval '1 millisecond'))
FROM item i
WHERE r.id = ANY (ARRAY[i.id]) AND r.lease_owner = $1 AND r.lease_epoch = i.epoch
RETURNING r.id, r.lease_epoch, r.cancel_requested_at IS NOT NULL AS cancel_requested`

export type Beat = {
  workerId: string
  leaseMs: number
  deadlineGraceMs: number
  leases: { runId: string; epoch: number }[]
}

export async function beat(
  client: pg.Client | pg.Pool,
  { workerId, leaseMs, deadlineGraceMs, leases }: Beat,
): Promise<HeartbeatAnswer[]> {
  const sorted = leases.toSorted((a, b) => (a.runId < b.runId ? -1 : 1))
  const { rows } = await client.query<{ id: string; lease_epoch: number; cancel_requested: boolean }>({
    name: 'beat',
    text: BEAT,
    values: [
      workerId,
      sorted.map((lease) => lease.runId),
      sorted.map((lease) => lease.epoch),
      leaseMs,
      deadlineGraceMs,
    ],
  })
  const held = new Map(rows.map((row) => [row.id, row]))
  return leases.map(({ runId, epoch }) => {
    const row = held.get(runId)
    if (!row || row.lease_epoch !== epoch) return { runId, epoch, state: 'lost' }
    return { runId, epoch, state: row.cancel_requested ? 'cancel-requested' : 'held' }
  })
}
