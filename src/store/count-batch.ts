/**
 * How far a batch is, counted in one statement, hence in one snapshot, from the runs and uploads themselves: no counter can
 * be wrong.
 *
 * What it costs grows with the batch and with nothing else: each run of it is looked up by its id. A run that was retried
 * counts as its newest retry does, however often and from wherever in the line it was retried. An upload that asked for no
 * run is done when it is stored.
 */

import type pg from 'pg'
import type { BatchCounts } from './ports/batches.ts'

// The look-up by id is a subquery of its own (OFFSET 0), so that no plan joins the batch to the whole history.
const COUNT = `
WITH RECURSIVE run AS MATERIALIZED (
  SELECT s.run_id AS id, r.status, r.retry_of, r.created_at
  FROM run_search s CROSS JOIN LATERAL (
    SELECT status, retry_of, created_at FROM model_runs WHERE id = s.run_id OFFSET 0
  ) r
  WHERE s.batch_id = $1 AND s.owner = $2
), retry AS MATERIALIZED (
  SELECT id, retry_of, created_at FROM run WHERE retry_of IS NOT NULL
), line AS (
  SELECT id, created_at, retry_of AS root FROM retry WHERE retry_of NOT IN (SELECT id FROM retry)
  UNION ALL
  SELECT retry.id, retry.created_at, line.root FROM line JOIN retry ON retry.retry_of = line.id
), placed AS (
  SELECT id, root, row_number() OVER (PARTITION BY root ORDER BY created_at DESC, id DESC) AS place FROM line
), replaced AS MATERIALIZED (
  SELECT root AS id FROM placed UNION SELECT id FROM placed WHERE place > 1
), of_runs AS (
  SELECT status::text AS state, count(*) AS count FROM run WHERE id NOT IN (SELECT id FROM replaced) GROUP BY status
), of_uploads AS (
  SELECT CASE WHEN duplicate THEN 'duplicate' ELSE 'stored' END AS state, count(*) AS count
  FROM file_uploads WHERE batch_id = $1 AND owner = $2 AND (duplicate OR run_id IS NULL) GROUP BY duplicate
)
SELECT state, count::float8 FROM of_runs UNION ALL SELECT state, count::float8 FROM of_uploads`

export async function countBatch(pool: Pick<pg.ClientBase, 'query'>, id: string, owner: string): Promise<BatchCounts> {
  const { rows } = await pool.query<{ state: string; count: number }>(COUNT, [id, owner])
  const of = (state: string) => rows.find((row) => row.state === state)?.count ?? 0
  const counts = {
    waiting: of('PENDING'),
    running: of('RUNNING'),
    done: of('SUCCEEDED') + of('stored'),
    failed: of('FAILED'),
    cancelled: of('CANCELLED'),
    duplicate: of('duplicate'),
  }
  return { total: Object.values(counts).reduce((sum, count) => sum + count, 0), ...counts }
}
