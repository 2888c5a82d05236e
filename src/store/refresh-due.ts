/**
 * When a receiver is due: when the next of its deliveries may be sent, as long as it has a free slot; with none, when the
 * first lease ends. Only with its lock held (`lock-receivers.ts`): a claim that has not been committed would be overlooked,
 * and what waits would be forgotten.
 *
 * A claim sets it anew, never to a time that is past: whoever still has something goes to the end of the line, so that nobody
 * waits behind the backlog of another. Everyone else can only move it forward, so that news do not cost a receiver its place.
 */

import type pg from 'pg'

/** A receiver whose last sends failed has one slot until one works. */
export const FAILURES_OF_BREAKER = 3

const REFRESH = `
UPDATE receivers r SET due_at = next.due_at
FROM (
  SELECT c.id, CASE WHEN $2::boolean THEN c.due_at ELSE LEAST(c.due_at, c.before) END AS due_at, c.before
  FROM (
    SELECT v.id, v.due_at AS before, CASE
      WHEN sending.count < CASE WHEN v.failures >= ${FAILURES_OF_BREAKER} THEN 1 ELSE v.slots END THEN (
        SELECT GREATEST(d.available_at, clock()) FROM deliveries d
        WHERE d.receiver_id = v.id AND d.state = 'PENDING' ORDER BY d.available_at, d.id LIMIT 1)
      ELSE sending.first_end END AS due_at
    FROM receivers v CROSS JOIN LATERAL (
      SELECT count(*) AS count, min(s.available_at) AS first_end FROM deliveries s
      WHERE s.receiver_id = v.id AND s.lease_token IS NOT NULL AND s.available_at > clock()) sending
    WHERE v.id = ANY($1::uuid[])
  ) c
) next
WHERE r.id = next.id AND next.due_at IS DISTINCT FROM next.before`

export async function refreshDue(client: pg.ClientBase, ids: readonly string[], isAnew = false): Promise<void> {
  await client.query({ name: 'refresh_due', text: REFRESH, values: [ids, isAnew] })
}
