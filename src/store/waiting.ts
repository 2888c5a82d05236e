/**
 * What is known about a waiting run.
 *
 * Nothing here reads history: workers are few, the runs ahead come from the ready index and counting them ends at a limit, and running
 * runs are looked at only where every worker that could take this one has a limit. Planning the statement takes longer than running it,
 * so it belongs on connections that keep plans.
 */

import type pg from 'pg'
import { AHEAD_MAX, type WaitingFacts } from '../run/waiting.ts'

const HELD_BY_MAX = 10
/** More running runs than this are not looked at. */
const RUNNING_MAX = 10_000

/** A worker that has not been seen for longer counts as gone. It beats every 20 seconds by default. */
export const LIVE_INTERVAL = `interval '2 minutes'`

export const IS_LIVE = `w.stopped_at IS NULL AND w.last_seen_at > clock() - ${LIVE_INTERVAL}`

// Of the run $1 as it was at its event $2. Runs of the owner $3 may be named as holders of a limit; null for everyone's.
export const WAITING_FACTS = `
SELECT (
  WITH serving AS MATERIALIZED (
    SELECT w.worker_id, w.models, r.model || '@' || r.model_version = ANY(w.models) AS offers,
      (w.queue_limits->>r.queue)::int AS queue_limit, (w.model_limits->>(r.model || '@' || r.model_version))::int AS model_limit
    FROM workers w WHERE ${IS_LIVE} AND r.queue = ANY(w.queues)
  ), running AS MATERIALIZED (
    SELECT t.id, t.owner, t.lease_owner, t.queue = r.queue AS of_queue,
      t.model = r.model AND t.model_version = r.model_version AS of_model
    FROM (
      SELECT id, owner, lease_owner, queue, model, model_version, lease_expires_at FROM model_runs
      WHERE status = 'RUNNING' AND lease_expires_at > clock() - interval '10 seconds'
        -- A worker without a limit is never at one.
        AND (SELECT bool_and(num_nonnulls(queue_limit, model_limit) > 0) FROM serving WHERE offers)
      ORDER BY status, lease_expires_at LIMIT ${RUNNING_MAX}
    ) t
    WHERE t.queue = r.queue OR (t.model = r.model AND t.model_version = r.model_version)
  ), held AS MATERIALIZED (
    SELECT lease_owner, count(*) FILTER (WHERE of_queue) AS of_queue, count(*) FILTER (WHERE of_model) AS of_model
    FROM running GROUP BY lease_owner
  ), offering AS MATERIALIZED (
    SELECT s.worker_id, s.queue_limit, s.model_limit, h.of_queue, h.of_model,
      COALESCE(h.of_model >= s.model_limit, false) AS full_of_model, COALESCE(h.of_queue >= s.queue_limit, false) AS full_of_queue
    FROM serving s LEFT JOIN held h ON h.lease_owner = s.worker_id WHERE s.offers
  ), ahead AS (
    SELECT count(*) AS runs FROM (
      SELECT FROM lanes l CROSS JOIN LATERAL (
        SELECT FROM model_runs p
        WHERE p.lane = l.lane AND p.status = 'PENDING' AND p.available_at <= clock()
          AND (p.available_at, p.id) < (CASE WHEN l.priority > r.priority THEN timestamptz 'infinity' ELSE r.available_at END, r.id)
        -- From the run backwards: at the beginning of a lane there may be many dead entries.
        ORDER BY p.available_at DESC, p.id DESC LIMIT ${AHEAD_MAX + 1}
      ) before
      -- With fair share only its owner's runs are sure to go before it.
      WHERE l.queue = r.queue AND l.priority >= r.priority AND (r.lane > 0 OR l.owner = r.owner)
        AND EXISTS (SELECT FROM serving s WHERE l.model || '@' || l.model_version = ANY(s.models))
      LIMIT ${AHEAD_MAX + 1}
    ) counted
  )
  SELECT jsonb_build_object(
    'later', r.available_at > clock(),
    'paused', EXISTS (SELECT FROM queues q WHERE q.queue = r.queue AND q.paused),
    'serving', (SELECT count(*) FROM serving),
    'offering', count(*),
    'offeredVersions', CASE WHEN count(*) = 0 THEN ARRAY(
      SELECT DISTINCT substr(m, length(r.model) + 2) FROM serving s CROSS JOIN unnest(s.models) AS m
      WHERE left(m, length(r.model) + 1) = r.model || '@' ORDER BY 1) ELSE '{}' END,
    'fullOfModel', count(*) FILTER (WHERE full_of_model),
    'fullOfQueue', count(*) FILTER (WHERE full_of_queue),
    'full', count(*) FILTER (WHERE full_of_model OR full_of_queue),
    'limit', COALESCE(sum(CASE WHEN full_of_model THEN model_limit WHEN full_of_queue THEN queue_limit END), 0),
    'held', COALESCE(sum(CASE WHEN full_of_model THEN of_model WHEN full_of_queue THEN of_queue END), 0),
    'heldBy', ARRAY(
      SELECT t.id FROM running t
      WHERE ((t.of_model AND t.lease_owner IN (SELECT worker_id FROM offering WHERE full_of_model))
          OR (t.of_queue AND t.lease_owner IN (SELECT worker_id FROM offering WHERE full_of_queue AND NOT full_of_model)))
        AND ($3::text IS NULL OR t.owner = $3) ORDER BY t.id LIMIT ${HELD_BY_MAX}),
    'ahead', CASE WHEN r.available_at <= clock() THEN (SELECT runs FROM ahead) ELSE 0 END)
  FROM offering
) AS facts
FROM model_runs r WHERE r.id = $1 AND r.status = 'PENDING' AND r.event_seq = $2`

/** Null when the run has changed since the event. */
export async function readWaitingFacts(
  pool: pg.Pool,
  { runId, eventSeq, sees }: { runId: string; eventSeq: number; sees: string | null },
): Promise<WaitingFacts | null> {
  const values = [runId, eventSeq, sees]
  const { rows } = await pool.query<{ facts: WaitingFacts }>({ name: 'waiting', text: WAITING_FACTS, values })
  return rows[0]?.facts ?? null
}
