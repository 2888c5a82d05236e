/** Sets how a queue is shared among owners: fair or not, and the weights, in one statement with its audit row. */

import type pg from 'pg'
import type { Actor } from './ports/audit.ts'
import type { QueueSettings } from './ports/directory.ts'

// The queue's row is locked first, so that of two at once one comes after the other. Null leaves a setting as it is.
const SET_QUEUE = `
WITH asked AS (
  SELECT key AS owner, value::float8 AS weight FROM jsonb_each_text($3::jsonb)
), held AS (
  SELECT queue, fair_share FROM queues WHERE queue = $1 FOR UPDATE
), removed AS (
  DELETE FROM queue_weights w USING held
  WHERE w.queue = held.queue AND $3 IS NOT NULL AND NOT EXISTS (SELECT FROM asked a WHERE a.owner = w.owner) RETURNING w.owner
), written AS (
  INSERT INTO queue_weights AS w (queue, owner, weight) SELECT held.queue, a.owner, a.weight FROM held CROSS JOIN asked a ORDER BY 2
  ON CONFLICT (queue, owner) DO UPDATE SET weight = excluded.weight WHERE w.weight <> excluded.weight RETURNING owner
), changed AS (
  UPDATE queues q SET fair_share = COALESCE($2, q.fair_share), updated_at = clock() FROM held
  WHERE q.queue = held.queue AND (held.fair_share <> $2 OR (SELECT count(*) FROM removed) + (SELECT count(*) FROM written) > 0)
  RETURNING q.queue
)
INSERT INTO audit_events (actor_token, actor_owner, action, target, request_id) SELECT $4, $5, 'queue.set', queue, $6 FROM changed`

/** Only a queue that exists, so that a mistyped name is not taken for one. */
export async function setQueue(
  pool: pg.Pool,
  queue: string,
  { fairShare, weights }: QueueSettings,
  actor: Actor,
): Promise<boolean | null> {
  const asked = weights === undefined ? null : JSON.stringify(weights)
  const values = [queue, fairShare ?? null, asked, actor.tokenId, actor.owner, actor.requestId]
  const { rowCount } = await pool.query(SET_QUEUE, values)
  if (rowCount === 1) return true
  const found = await pool.query('SELECT FROM queues WHERE queue = $1', [queue])
  return found.rowCount === 1 ? false : null
}
