/** Retention of logs: those of attempts that ended long ago go, the oldest first, a batch at a time. */

import type pg from 'pg'

const DELETE_LOGS = `
DELETE FROM run_logs WHERE ctid = ANY (ARRAY(
  SELECT l.ctid FROM run_logs l
  WHERE l.at < clock() - $1 * interval '1 millisecond'
    AND NOT EXISTS (SELECT FROM run_attempts a WHERE a.run_id = l.run_id AND a.attempt = l.attempt
      AND (a.finished_at IS NULL OR a.finished_at >= clock() - $1 * interval '1 millisecond'))
  ORDER BY l.at LIMIT $2))`

export async function deleteLogs(pool: pg.Pool, ageMs: number, limit: number): Promise<number> {
  return (await pool.query(DELETE_LOGS, [ageMs, limit])).rowCount ?? 0
}
