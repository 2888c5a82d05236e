/**
 * Commit a step: keep its output if the token is that of the open attempt and the run has no output under the name yet.
 *
 * Two commits of one attempt at once see neither each other nor each other's number: the one that finds its number or its name taken
 * looks again. So numbers have no gaps and limits hold.
 */

import type pg from 'pg'
import { isUniqueViolation } from './pg-errors.ts'
import type { NewStep, StepCommit, StepLimits } from './ports/steps.ts'
import { STEP_COLUMNS, type StepRow, stepOfRow } from './step-row.ts'

// The lock makes a settle wait or be waited for, so that "kept" is never said of an attempt that ended before.
const COMMIT = `
WITH open AS MATERIALIZED (
  SELECT run_id, attempt FROM run_attempts WHERE run_id = $1 AND token_hash = $2 AND finished_at IS NULL FOR UPDATE
), before AS MATERIALIZED (
  SELECT count(*)::int AS steps, count(*) < $11 AND COALESCE(sum(output_bytes), 0) + $10 <= $12 AS fits FROM run_steps WHERE run_id = $1
), kept AS (
  INSERT INTO run_steps (run_id, name, no, attempt, started_at, finished_at, tries, output, output_ref, output_hash, output_bytes)
  SELECT o.run_id, $3, b.steps + 1, o.attempt, CASE WHEN $4::timestamptz < clock() THEN $4 WHEN $4 IS NOT NULL THEN clock() END, clock(), $5, $6::json, $7, $8, $9
  FROM open o, before b WHERE b.fits
  ON CONFLICT (run_id, name) DO NOTHING
  RETURNING *
)
SELECT b.fits, s.*
FROM open, before b LEFT JOIN (
  SELECT true AS is_new, ${STEP_COLUMNS} FROM kept
  UNION ALL SELECT false, ${STEP_COLUMNS} FROM run_steps WHERE run_id = $1 AND name = $3
) s ON true`

const LOOKS_MAX = 100

type Found = { fits: boolean } & ((StepRow & { is_new: boolean }) | { is_new: null })

export async function commitStep(
  pool: pg.Pool,
  runId: string,
  tokenHash: Buffer,
  { name, startedAt, tries, output }: NewStep,
  limits: StepLimits,
): Promise<StepCommit> {
  const { text, ref, hash, bytes } = output
  const values = [runId, tokenHash, name, startedAt, tries, text, ref, hash, bytes, bytes, limits.steps, limits.bytes]
  for (let looks = 1; looks <= LOOKS_MAX; looks += 1) {
    const found = await pool.query<Found>({ name: 'commit_step', text: COMMIT, values }).catch(numberTaken)
    if (!found) continue
    const row = found.rows[0]
    if (!row) return { is: 'lost' }
    if (row.is_new !== null) {
      const step = stepOfRow(row)
      if (row.is_new) return { is: 'kept', step }
      return { is: step.output.hash === hash ? 'repeated' : 'conflict', step }
    }
    if (!row.fits) return { is: 'full' }
  }
  throw new Error(`the steps of run ${runId} changed at every look`)
}

function numberTaken(error: unknown): null {
  if (isUniqueViolation(error, 'steps_no')) return null
  throw error
}
