/**
 * Adds new events up into run_stats, each of them once.
 *
 * The row of the cursor says which transactions are counted, as a snapshot. Whoever holds its lock takes a new snapshot, counts the events of
 * the transactions that ended in between, and moves the cursor there, all in one transaction: a roller that dies has counted nothing.
 * A slow transaction is in the snapshot's list of open ones and is counted when it has ended.
 *
 * A batch is a stretch of transaction numbers; its width follows from how many events the last one held. It ends before the roller's own
 * number: after a crash Postgres may give higher numbers that left nothing on disk to other transactions, and those would
 * pass for counted.
 */

import type pg from 'pg'
import { BIN_MAX, BINS_PER_DOUBLING } from '../run/histogram.ts'
import { parseMoment } from '../run/moment.ts'
import { plainArray } from './array-literal.ts'
import type { Rolled } from './ports/stats.ts'

// The new snapshot must be taken when the lock is held, hence by a later statement: a cursor must never move back.
const LOCK = `
SELECT counted::text FROM run_stats_cursor WHERE rolled_at <= clock() - $1 * interval '1 millisecond' FOR UPDATE SKIP LOCKED`

const RESTART = `UPDATE run_stats_cursor SET counted = pg_current_snapshot(), count_from = clock(), rolled_at = clock()`

const bin = (seconds: string) =>
  `LEAST(${BIN_MAX}, floor(${BINS_PER_DOUBLING} * ln(GREATEST(${seconds} * 1000, 1)) / ln(2)))::int`

const COUNTS = ['created', 'started', 'succeeded', 'failed', 'cancelled', 'retried', 'reclaimed']

/** Runs are looked up one by one; only the events themselves need the settings of the feed. */
export const ROLL_SETTING = 'enable_indexscan = on'

/** $1 and $2: the stretch of numbers that were not given when the cursor was made; $3: those that were under way then. */
export const ROLL = `
WITH place AS MATERIALIZED (
  SELECT reach, LEAST(reach, $2::bigint) AS upper, running FROM (
    SELECT LEAST(pg_snapshot_xmax(s)::text::bigint, pg_current_xact_id()::text::bigint) AS reach,
      ARRAY(SELECT x::text::bigint FROM pg_snapshot_xip(s) AS x) AS running
    FROM pg_current_snapshot() AS s
  ) snapshot
), found AS MATERIALIZED (
  -- Apart from each other and from the time, so that each is looked up by its numbers alone: the time is that of all events since the cursor was made.
  SELECT run_id, type, at, attempt FROM run_events WHERE xid >= $1::bigint AND xid < (SELECT upper FROM place)
  UNION ALL
  SELECT run_id, type, at, attempt FROM run_events WHERE xid = ANY ($3::bigint[])
), event AS MATERIALIZED (
  SELECT e.type, date_trunc('minute', e.at, 'UTC') AS minute, r.model, r.queue,
    CASE WHEN e.type = 'started' AND e.attempt = 1 THEN date_part('epoch', e.at - r.created_at) END AS lag_seconds,
    CASE WHEN e.type IN ('succeeded', 'failed', 'cancelled') THEN date_part('epoch', e.at - r.started_at) END AS run_seconds,
    e.type IN ('failed', 'cancelled') AND EXISTS (
      SELECT FROM run_attempts a WHERE a.run_id = e.run_id AND a.attempt = e.attempt AND a.state = 'LOST') AS lost
  FROM found e JOIN model_runs r ON r.id = e.run_id
  WHERE e.at >= (SELECT count_from FROM run_stats_cursor)
), counted AS MATERIALIZED (
  SELECT e.minute, e.model, e.queue, m.what, m.bin, count(*) AS n
  FROM event e CROSS JOIN LATERAL (
    SELECT CASE e.type WHEN 'retry_scheduled' THEN 'retried' ELSE e.type END AS what, NULL::int AS bin
    UNION ALL SELECT 'reclaimed', NULL WHERE e.lost
    UNION ALL SELECT 'lag', ${bin('e.lag_seconds')} WHERE e.lag_seconds IS NOT NULL
    UNION ALL SELECT 'duration', ${bin('e.run_seconds')} WHERE e.run_seconds IS NOT NULL
  ) m
  WHERE m.what = ANY ('{${[...COUNTS, 'lag', 'duration'].join(',')}}')
  GROUP BY e.minute, e.model, e.queue, m.what, m.bin
), cell AS (
  SELECT grain, bucket_at, COALESCE(model, '') AS model, COALESCE(queue, '') AS queue, what, bin, sum(n) AS n
  FROM (
    SELECT g.grain, date_trunc(g.grain, c.minute, 'UTC') AS bucket_at, c.model, c.queue, c.what, c.bin, c.n
    FROM counted c CROSS JOIN (VALUES ('minute'), ('hour'), ('day')) AS g(grain)
  ) by_grain
  GROUP BY grain, bucket_at, what, bin, GROUPING SETS ((model, queue), (model), (queue), ())
), added AS (
  INSERT INTO run_stats AS s (grain, model, queue, bucket_at, ${COUNTS.join(', ')}, lag, duration)
  SELECT grain, model, queue, bucket_at, ${COUNTS.map((name) => `COALESCE(sum(n) FILTER (WHERE what = '${name}'), 0)`).join(', ')},
    COALESCE(jsonb_object_agg(bin, n) FILTER (WHERE what = 'lag'), '{}'),
    COALESCE(jsonb_object_agg(bin, n) FILTER (WHERE what = 'duration'), '{}')
  FROM cell GROUP BY grain, model, queue, bucket_at
  ON CONFLICT (grain, model, queue, bucket_at) DO UPDATE SET
    ${COUNTS.map((name) => `${name} = s.${name} + excluded.${name}`).join(', ')},
    lag = add_histograms(s.lag, excluded.lag), duration = add_histograms(s.duration, excluded.duration)
), moved AS (
  UPDATE run_stats_cursor SET rolled_at = clock(), counted = (
    SELECT format('%s:%s:%s', COALESCE(min(x), upper), upper, string_agg(x::text, ',' ORDER BY x))::pg_snapshot
    FROM place LEFT JOIN LATERAL (SELECT x FROM unnest(running) AS x WHERE x < upper) open ON true GROUP BY upper)
)
SELECT (SELECT count(*)::int FROM event) AS events, upper, reach FROM place`

const EVENTS_WANTED = 5_000
const WIDTH_FIRST = 8
const WIDTH_MAX = 65_536

/** On a pool that makes it read run_events by its BRIN index. */
export function createRollStats(pool: pg.Pool): (options: { minAgeMs: number }) => Promise<Rolled> {
  let width = WIDTH_FIRST

  async function rollOn(client: pg.ClientBase, minAgeMs: number): Promise<Rolled> {
    const { rows: cursors } = await client.query<{ counted: string }>(LOCK, [minAgeMs])
    if (!cursors[0]) return { outcome: 'left' }
    const { xmax, xip } = parseMoment(cursors[0].counted)
    const { rows } = await client.query<{ events: number; upper: number; reach: number }>({
      name: 'roll_stats',
      text: ROLL,
      values: [xmax, xmax + width, plainArray(xip)],
    })
    const { events, upper, reach } = rows[0]!
    if (reach < xmax) {
      await client.query(RESTART)
      return { outcome: 'restarted' }
    }
    const more = upper < reach
    if (events > EVENTS_WANTED) width = Math.max(1, Math.floor((width * EVENTS_WANTED) / events))
    else if (more && 2 * events < EVENTS_WANTED) width = Math.min(WIDTH_MAX, 2 * width)
    return { outcome: 'rolled', events, more }
  }

  return async ({ minAgeMs }) => {
    const client = await pool.connect()
    try {
      await client.query(`BEGIN; SET LOCAL ${ROLL_SETTING}`)
      const rolled = await rollOn(client, minAgeMs)
      await client.query(rolled.outcome === 'left' ? 'ROLLBACK' : 'COMMIT')
      client.release()
      return rolled
    } catch (error) {
      // What is too much for one statement may be right for a smaller one. The connection goes, and its transaction with it.
      width = Math.max(1, Math.floor(width / 8))
      client.release(error as Error)
      throw error
    }
  }
}
