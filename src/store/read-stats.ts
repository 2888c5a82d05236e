/** Reading what was added up: one row per bucket, whatever the question, and what there is now from the indexes of waiting and running runs. */

import type pg from 'pg'
import type { Histogram } from '../run/histogram.ts'
import { LANE_DEPTH, LANE_IS_CAPPED, RUNNING, RUNNING_MAX } from './list-queues.ts'
import type { StatsAsked, StatsBucket, StatsCounts, StatsFilter, StatsNow, StatsPlace } from './ports/stats.ts'

const BUCKETS = `
SELECT bucket_at, created, started, succeeded, failed, cancelled, retried, reclaimed, lag, duration FROM run_stats
WHERE grain = $1 AND model = $2 AND queue = $3 AND bucket_at >= $4 AND bucket_at < $5 ORDER BY bucket_at`

const TOTALS = `
SELECT COALESCE(sum(created), 0)::bigint AS created, COALESCE(sum(started), 0)::bigint AS started,
  COALESCE(sum(succeeded), 0)::bigint AS succeeded, COALESCE(sum(failed), 0)::bigint AS failed,
  COALESCE(sum(cancelled), 0)::bigint AS cancelled, COALESCE(sum(retried), 0)::bigint AS retried,
  COALESCE(sum(reclaimed), 0)::bigint AS reclaimed
FROM run_stats WHERE grain = 'day' AND model = $1 AND queue = $2`

const NOW = `
WITH lane_of AS (
  SELECT depth.runs, ${LANE_IS_CAPPED} AS capped, first.id, first.available_at
  FROM (SELECT lane FROM lanes WHERE ($1::text IS NULL OR model = $1) AND ($2::text IS NULL OR queue = $2)) l ${LANE_DEPTH}
), running AS MATERIALIZED (${RUNNING})
SELECT COALESCE((SELECT sum(runs)::int FROM lane_of), 0) AS pending, COALESCE((SELECT bool_or(capped) FROM lane_of), false) AS pending_capped,
  (SELECT count(*)::int FROM running WHERE ($1::text IS NULL OR model = $1) AND ($2::text IS NULL OR queue = $2)) AS running,
  (SELECT count(*) > ${RUNNING_MAX} FROM running) AS running_capped, oldest.id AS oldest_id, oldest.available_at AS oldest_at,
  date_part('epoch', clock() - oldest.available_at) AS oldest_seconds
FROM (VALUES (1)) AS one LEFT JOIN (
  SELECT id, available_at FROM lane_of WHERE id IS NOT NULL ORDER BY available_at, id LIMIT 1
) oldest ON true`

// Minutes are for the last days, hours for the last year, days for ever.
const FORGET_OLD = `
DELETE FROM run_stats WHERE (grain = 'minute' AND bucket_at < clock() - interval '48 hours')
  OR (grain = 'hour' AND bucket_at < clock() - interval '400 days')`

type BucketRow = StatsCounts & { bucket_at: Date; lag: Histogram; duration: Histogram }

export async function readBuckets(
  pool: pg.Pool,
  { grain, model, queue, from, to }: StatsAsked,
): Promise<StatsBucket[]> {
  const { rows } = await pool.query<BucketRow>(BUCKETS, [grain, model ?? '', queue ?? '', from, to])
  return rows.map(({ bucket_at: at, ...counts }) => ({ at, ...counts }))
}

export async function readTotals(pool: pg.Pool, { model, queue }: StatsFilter): Promise<StatsCounts> {
  return (await pool.query<StatsCounts>(TOTALS, [model ?? '', queue ?? ''])).rows[0]!
}

export async function readNow(pool: pg.Pool, { model, queue }: StatsFilter): Promise<StatsNow> {
  const { rows } = await pool.query(NOW, [model, queue])
  const row = rows[0]!
  const oldest =
    row.oldest_id === null ? null : { runId: row.oldest_id, since: row.oldest_at, seconds: row.oldest_seconds }
  return {
    pending: row.pending,
    pendingCapped: row.pending_capped,
    running: row.running,
    runningCapped: row.running_capped,
    oldestWaiting: oldest,
  }
}

export async function readStatsPlace(pool: pg.Pool): Promise<StatsPlace> {
  const { rows } = await pool.query('SELECT clock() AS now, since, rolled_at AS "rolledAt" FROM run_stats_cursor')
  return rows[0]!
}

export async function forgetOldStats(pool: pg.Pool): Promise<number> {
  return (await pool.query(FORGET_OLD)).rowCount ?? 0
}
