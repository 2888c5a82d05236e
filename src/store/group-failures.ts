/**
 * Failed runs grouped by model and error class: the dead-letter list. It jumps from group to group through the index of
 * failed runs and counts a bounded number of entries of each, so it costs the same whatever the history weighs.
 */

import type pg from 'pg'
import { cursorOfPair, pairOfCursor } from './pair-cursor.ts'
import type { FailureGroup, FailuresPage, FailuresRequest } from './ports/search.ts'

/** Of each group; runs of other owners count here too. */
export const COUNTED_MAX = 10_000
const MESSAGE_LENGTH_MAX = 200

const FAILED = `status = 'FAILED' AND last_error_class IS NOT NULL`

const GROUPS = `
WITH RECURSIVE failure AS (
  SELECT model, class FROM (
    SELECT model, last_error_class AS class FROM model_runs WHERE ${FAILED} AND (model, last_error_class) > ($2, $3)
    ORDER BY model, last_error_class LIMIT 1) first
  WHERE $1::text IS NULL OR model = $1
  UNION ALL
  SELECT following.model, following.class FROM failure f CROSS JOIN LATERAL (
    SELECT model, last_error_class AS class FROM model_runs WHERE ${FAILED} AND (model, last_error_class) > (f.model, f.class)
    ORDER BY model, last_error_class LIMIT 1) following
  WHERE $1::text IS NULL OR following.model = $1
)
SELECT f.model, f.class, LEAST(counted.found, $6)::int AS found, counted.is_capped, counted.newest, newest.id AS run_id,
  left(newest.last_error, ${MESSAGE_LENGTH_MAX}) AS message,
  CASE WHEN counted.is_capped AND $4::text IS NULL THEN oldest.created_at ELSE counted.oldest END AS oldest
FROM (SELECT * FROM failure LIMIT $5) f
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE is_seen) AS found, count(*) > $6 AS is_capped,
    max(created_at) FILTER (WHERE is_seen) AS newest, min(created_at) FILTER (WHERE is_seen) AS oldest
  FROM (
    SELECT created_at, $4::text IS NULL OR owner = $4 AS is_seen FROM model_runs
    WHERE ${FAILED} AND model = f.model AND last_error_class = f.class
    ORDER BY model DESC, last_error_class DESC, created_at DESC, id DESC LIMIT $6 + 1) looked
) counted
LEFT JOIN LATERAL (
  SELECT id, last_error FROM model_runs
  WHERE ${FAILED} AND model = f.model AND last_error_class = f.class AND created_at = counted.newest
    AND ($4::text IS NULL OR owner = $4)
  ORDER BY id DESC LIMIT 1
) newest ON true
LEFT JOIN LATERAL (
  SELECT created_at FROM model_runs WHERE ${FAILED} AND model = f.model AND last_error_class = f.class
  ORDER BY created_at, id LIMIT 1
) oldest ON counted.is_capped`

type Row = {
  model: string
  class: string
  found: number
  is_capped: boolean
  newest: Date | null
  oldest: Date | null
  run_id: string | null
  message: string | null
}

export async function groupFailures(
  pool: pg.Pool,
  { model, sees, limit, cursor }: FailuresRequest,
  countedMax = COUNTED_MAX,
): Promise<FailuresPage> {
  // No class is empty, so this is before the first group.
  const [afterModel, afterClass] =
    cursor === null ? [model ?? '', ''] : pairOfCursor(cursor, ([of]) => model === null || of === model)
  const values = [model, afterModel, afterClass, sees, limit + 1, countedMax]
  const { rows } = await pool.query<Row>({ text: GROUPS, values })
  const looked = rows.slice(0, limit)
  const last = looked.at(-1)
  return {
    groups: looked.filter((row) => row.found > 0).map(groupOf),
    nextCursor: rows.length > limit && last ? cursorOfPair([last.model, last.class]) : null,
  }
}

function groupOf(row: Row): FailureGroup {
  return {
    model: row.model,
    errorClass: row.class,
    count: row.found,
    countCapped: row.is_capped,
    newestAt: row.newest!,
    oldestAt: row.oldest!,
    example: { runId: row.run_id!, message: row.message ?? '' },
  }
}
