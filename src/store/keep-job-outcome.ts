/**
 * What engines' jobs say of their own end, kept until the holder of the lease settles it, whoever that is by then. The first
 * word of an attempt stays; a word of an attempt that is over is not kept.
 */

import type pg from 'pg'
import type { Fence, JobOutcome } from './ports/attempts.ts'

// The lock makes a settle wait or be waited for, so that "kept" is never said of an attempt that ended meanwhile.
const KEEP = `
WITH open AS MATERIALIZED (
  SELECT run_id, attempt FROM run_attempts WHERE run_id = $1 AND token_hash = $2 AND finished_at IS NULL FOR UPDATE
), kept AS (
  INSERT INTO attempt_outcomes (run_id, attempt, outcome, delivered_at)
  SELECT run_id, attempt, $3, clock() FROM open ON CONFLICT DO NOTHING
)
SELECT FROM open`

const SAID = `
SELECT o.run_id, o.outcome
FROM unnest($1::uuid[], $2::int[], $3::int[]) AS i(run_id, epoch, attempt)
JOIN run_attempts a ON a.run_id = ANY (ARRAY[i.run_id]) AND a.attempt = i.attempt
JOIN attempt_outcomes o ON o.run_id = a.run_id AND o.attempt = a.attempt
WHERE a.lease_epoch = i.epoch AND a.finished_at IS NULL`

const FORGET = `
DELETE FROM attempt_outcomes WHERE ctid = ANY (ARRAY(
  SELECT o.ctid FROM attempt_outcomes o
  WHERE NOT EXISTS (SELECT FROM run_attempts a WHERE a.run_id = o.run_id AND a.attempt = o.attempt AND a.finished_at IS NULL)
  LIMIT $1))`

export async function keepJobOutcome(
  pool: pg.Pool,
  runId: string,
  tokenHash: Buffer,
  outcome: JobOutcome,
): Promise<boolean> {
  return (await pool.query(KEEP, [runId, tokenHash, JSON.stringify(outcome)])).rowCount === 1
}

export async function jobOutcomes(pool: pg.Pool, fences: Fence[]): Promise<{ runId: string; outcome: JobOutcome }[]> {
  if (fences.length === 0) return []
  const { rows } = await pool.query<{ run_id: string; outcome: string }>({
    name: 'job_outcomes',
    text: SAID,
    values: [
      fences.map((fence) => fence.runId),
      fences.map((fence) => fence.epoch),
      fences.map((fence) => fence.attempt),
    ],
  })
  return rows.map((row) => ({ runId: row.run_id, outcome: JSON.parse(row.outcome) as JobOutcome }))
}

/** Once an attempt has ended, its run holds what became of it. */
export async function forgetJobOutcomes(pool: pg.Pool, limit: number): Promise<number> {
  return (await pool.query(FORGET, [limit])).rowCount ?? 0
}
