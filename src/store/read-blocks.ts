/** Why blocked runs wait: the rule that asked for approval, or the concurrency key and who holds it. */

import type pg from 'pg'
import { AHEAD_MAX, type BlockFacts, type Waiting, whyBlocked } from '../run/waiting.ts'
import { IS_ACTIVE } from './key-places.ts'
import type { StoppedRun } from './ports/blocks.ts'

const HELD_BY_MAX = 10

export const READ_BLOCKS = `
SELECT b.run_id AS "runId", b.reason, b.detail->'rule' AS rule, b.since, b.start_at AS "startAt",
  COALESCE(b.start_at > clock(), false) AS "isLater", k.key, k.max_runs AS limit, u.held, u.held_by AS "heldBy", p.ahead
FROM unnest($1::uuid[]) AS i(id)
JOIN run_blocks b ON b.run_id = i.id
LEFT JOIN concurrency_holds k ON k.run_id = b.run_id
LEFT JOIN LATERAL (
  SELECT count(*)::int AS held, COALESCE((array_agg(h.run_id::text ORDER BY h.arrived_at, h.run_id)
      FILTER (WHERE $2::text IS NULL OR (SELECT r.owner FROM model_runs r WHERE r.id = h.run_id) = $2))[1:${HELD_BY_MAX}], '{}') AS held_by
  FROM concurrency_holds h WHERE h.owner = k.owner AND h.key = k.key AND h.state = 'held' AND ${IS_ACTIVE}
) u ON k.run_id IS NOT NULL
LEFT JOIN LATERAL (
  SELECT count(*)::int AS ahead FROM (
    SELECT FROM (
      (SELECT FROM concurrency_holds h WHERE h.owner = k.owner AND h.key = k.key AND h.state = 'waiting' AND h.priority > k.priority
        LIMIT ${AHEAD_MAX + 1})
      UNION ALL
      (SELECT FROM concurrency_holds h WHERE h.owner = k.owner AND h.key = k.key AND h.state = 'waiting' AND h.priority = k.priority
        AND (h.arrived_at, h.run_id) < (k.arrived_at, k.run_id) LIMIT ${AHEAD_MAX + 1})
    ) both_parts LIMIT ${AHEAD_MAX + 1}) before
) p ON k.state = 'waiting'`

/** By run id. Runs that are not blocked are left out. */
export async function readBlocks(
  pool: pg.Pool,
  runIds: readonly string[],
  sees: string | null,
): Promise<Map<string, Waiting>> {
  const { rows } = await pool.query<BlockFacts & { runId: string }>({
    name: 'read_blocks',
    text: READ_BLOCKS,
    values: [runIds, sees],
  })
  return new Map(rows.map((row) => [row.runId, whyBlocked(row)]))
}

const READ_STOPPED_FOR = `
SELECT DISTINCT r.id AS "runId", r.lease_owner AS holder
FROM unnest($1::uuid[]) AS i(id)
JOIN concurrency_holds k ON k.run_id = i.id AND k.mode = 'cancel_older'
JOIN concurrency_holds h ON h.owner = k.owner AND h.key = k.key AND h.state = 'held' AND h.run_id <> k.run_id
JOIN LATERAL (SELECT * FROM model_runs r WHERE r.id = h.run_id LIMIT 1) r ON r.lease_owner IS NOT NULL AND r.cancel_requested_at IS NOT NULL`

/** RUNNING runs that were asked to stop in favour of these. */
export async function readStoppedFor(pool: pg.Pool, runIds: readonly string[]): Promise<StoppedRun[]> {
  const { rows } = await pool.query<StoppedRun>({ name: 'read_stopped_for', text: READ_STOPPED_FOR, values: [runIds] })
  return rows
}
