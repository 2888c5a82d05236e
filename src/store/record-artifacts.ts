/** Puts the files an attempt left on record, if it is still open under the epoch of the writer. A repeat after a lost reply changes nothing. */

import type pg from 'pg'
import type { NewArtifact } from './ports/artifacts.ts'
import type { Fence } from './ports/attempts.ts'

// The row of the attempt is locked: it cannot end, or change hands, between the look and the writing.
const RECORD = `
WITH held AS MATERIALIZED (
  SELECT run_id, attempt FROM run_attempts
  WHERE run_id = $1 AND lease_epoch = $2 AND attempt = $3 AND finished_at IS NULL
  FOR UPDATE
), written AS (
  INSERT INTO run_artifacts (run_id, attempt, name, bytes, sha256, ref, at)
  SELECT h.run_id, h.attempt, a.name, a.bytes, a.sha256, a.ref, clock()
  FROM held h, unnest($4::text[], $5::bigint[], $6::text[], $7::text[]) AS a(name, bytes, sha256, ref)
  ON CONFLICT DO NOTHING
)
SELECT FROM held`

export async function recordArtifacts(
  pool: pg.Pool,
  { runId, epoch, attempt }: Fence,
  artifacts: readonly NewArtifact[],
): Promise<boolean> {
  const held = await pool.query(RECORD, [
    runId,
    epoch,
    attempt,
    artifacts.map(({ name }) => name),
    artifacts.map(({ bytes }) => bytes),
    artifacts.map(({ sha256 }) => sha256),
    artifacts.map(({ ref }) => ref),
  ])
  return held.rowCount === 1
}
