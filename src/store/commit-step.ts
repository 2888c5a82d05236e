/**
 * Commit a step: keep its output if the token is that of the open attempt and the run has no output under the name yet.
 *
 * Two commits of one attempt at once see neither each other nor each other's number: the one that finds its number or its name taken
 * looks again. So numbers have no gaps and limits hold.
 */

import type pg from 'pg'
import { isUniqueViolation } from './pg-errors.ts'
import type { NewStep, StepCommit, StepLimits } from './ports/steps.ts'
import { factsOf, STEP_COLUMNS, type StepRow, stepOfRow } from './step-row.ts'

// The lock makes a settle wait or be waited for, so that "kept" is never said of an attempt that ended before.
const COMMIT = `
WITH open AS MATERIALIZED (
  SELECT run_id, attempt FROM run_attempts WHERE run_id = $1 AND token_hash = $2 AND finished_at IS NULL FOR UPDATE
), last AS MATERIALIZED (
  SELECT no, COALESCE(named_upto, no) AS named, COALESCE(bytes_upto, (SELECT sum(output_bytes) FROM run_steps WHERE run_id = $1)) AS bytes
  FROM run_steps WHERE run_id = $1 ORDER BY no DESC LIMIT 1
), upto AS MATERIALIZED (
  SELECT COALESCE(max(no), 0) + 1 AS no, COALESCE(max(named), 0) + ($10::text IS NULL)::int AS named, COALESCE(max(bytes), 0) + $9 AS bytes
  FROM last
), place AS MATERIALIZED (
  SELECT *, named <= $14 AND no - named <= $15 AND bytes <= $16 AS fits FROM upto
), kept AS (
  INSERT INTO run_steps (run_id, name, no, attempt, started_at, finished_at, tries, output, output_ref, output_hash, output_bytes,
    item_of, item_no, cpu_seconds, peak_memory_bytes, named_upto, bytes_upto)
  SELECT o.run_id, $3, p.no, o.attempt, CASE WHEN $4::timestamptz < clock() THEN $4 WHEN $4 IS NOT NULL THEN clock() END, clock(), $5,
    $6::json, $7, $8, $9, $10, $11, $12, $13, p.named, p.bytes
  FROM open o, place p WHERE p.fits
  ON CONFLICT (run_id, name) DO NOTHING
  RETURNING *
)
SELECT p.fits, s.*
FROM open, place p LEFT JOIN (
  SELECT true AS is_new, ${STEP_COLUMNS} FROM kept
  UNION ALL SELECT false, ${STEP_COLUMNS} FROM run_steps WHERE run_id = $1 AND name = $3
) s ON true`

const LOOKS_MAX = 100

type Found = { fits: boolean } & ((StepRow & { is_new: boolean }) | { is_new: null })

export async function commitStep(
  pool: pg.Pool,
  runId: string,
  tokenHash: Buffer,
  step: NewStep,
  limits: StepLimits,
): Promise<StepCommit> {
  const values = commitValues(runId, tokenHash, step, limits)
  for (let looks = 1; looks <= LOOKS_MAX; looks += 1) {
    const found = await pool.query<Found>({ name: 'commit_step', text: COMMIT, values }).catch(numberTaken)
    if (!found) continue
    const row = found.rows[0]
    if (!row) return { is: 'lost' }
    if (row.is_new !== null) {
      const known = stepOfRow(row)
      if (row.is_new) return { is: 'kept', step: known }
      return { is: known.output.hash === step.output.hash ? 'repeated' : 'conflict', step: known }
    }
    if (!row.fits) return { is: 'full' }
  }
  throw new Error(`the steps of run ${runId} changed at every look`)
}

function commitValues(runId: string, tokenHash: Buffer, step: NewStep, limits: StepLimits): unknown[] {
  const { name, startedAt, tries, itemOf, itemNo, cpuSeconds, peakMemoryBytes } = factsOf(step)
  const { text, ref, hash, bytes } = step.output
  return [
    ...[runId, tokenHash, name, startedAt, tries, text, ref, hash, bytes],
    ...[itemOf, itemNo, cpuSeconds, peakMemoryBytes],
    ...[limits.steps, limits.items ?? limits.steps, limits.bytes],
  ]
}

function numberTaken(error: unknown): null {
  if (isUniqueViolation(error, 'steps_no')) return null
  throw error
}
