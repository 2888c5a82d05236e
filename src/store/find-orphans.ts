/**
 * Of stored files of attempts, those that nobody can reach: their attempt ended without putting them on record, as when its worker died
 * between the two. Files are recorded before the end of their attempt and never after it, so what is an orphan stays one. An attempt that
 * this database does not know is left alone.
 */

import type pg from 'pg'
import type { AttemptFile } from './ports/artifacts.ts'

const ORPHANS = `
SELECT f.ref FROM unnest($1::uuid[], $2::int[], $3::text[]) AS f(run_id, attempt, ref)
JOIN run_attempts a ON a.run_id = f.run_id AND a.attempt = f.attempt
WHERE a.finished_at < clock() - $4 * interval '1 millisecond'
  AND NOT EXISTS (SELECT FROM run_artifacts r WHERE r.run_id = f.run_id AND r.attempt = f.attempt AND r.ref = f.ref)`

export async function findOrphans(pool: pg.Pool, files: readonly AttemptFile[], afterMs: number): Promise<string[]> {
  if (files.length === 0) return []
  const columns = [files.map(({ runId }) => runId), files.map(({ attempt }) => attempt), files.map(({ ref }) => ref)]
  return (await pool.query<{ ref: string }>(ORPHANS, [...columns, afterMs])).rows.map(({ ref }) => ref)
}
