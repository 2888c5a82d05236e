/** The drift check: what is active, recomputed from the runs themselves. It reads every run that has not ended, so it is for people to ask for. */

import type pg from 'pg'
import type { QuotaDrift } from './ports/quotas.ts'

const CHECK = `
WITH ruled AS MATERIALIZED (
  SELECT DISTINCT owner, model FROM quotas WHERE counted_at IS NOT NULL
), live AS (
  SELECT r.id, r.owner, r.model FROM model_runs r
  WHERE r.status IN ('PENDING', 'RUNNING')
    AND EXISTS (SELECT FROM ruled q WHERE q.owner IN (r.owner, '*') AND q.model IN (r.model, ''))
)
SELECT l.owner, l.model, count(h.run_id)::int AS counted, count(*)::int AS live,
  (array_agg(l.id::text ORDER BY l.id) FILTER (WHERE h.run_id IS NULL))[1:10] AS "runIds"
FROM live l LEFT JOIN quota_holds h ON h.run_id = l.id AND h.is_active AND h.owner = l.owner AND h.model = l.model
GROUP BY l.owner, l.model HAVING count(*) <> count(h.run_id) ORDER BY l.owner, l.model`

export async function checkHolds(pool: pg.Pool): Promise<QuotaDrift[]> {
  return (await pool.query<QuotaDrift>(CHECK)).rows
}
