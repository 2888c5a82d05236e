/** One batch: made when it is not there, or found, also when nothing but its runs names it. */

import type pg from 'pg'
import { type BatchRow, batchOfRow } from './batch-row.ts'
import type { Batch } from './ports/batches.ts'

const COLUMNS = 'id, owner, title, created_at'

const MAKE = `
INSERT INTO batches AS b (id, owner, title, created_at) VALUES ($1, $2, $3, clock())
ON CONFLICT (id) DO UPDATE SET title = excluded.title
  -- A batch that an upload began has no title yet; otherwise the row stays as it is, and is not even written.
  WHERE b.owner = excluded.owner AND b.title IS NULL AND excluded.title IS NOT NULL
RETURNING ${COLUMNS}`

const READ = `SELECT ${COLUMNS} FROM batches WHERE id = $1 AND ($2::text IS NULL OR owner = $2)`

const OF_RUNS = `
SELECT batch_id AS id, owner, NULL AS title, created_at FROM run_search
WHERE batch_id = $1 AND ($2::text IS NULL OR owner = $2) ORDER BY batch_id, created_at, run_id LIMIT 1`

export async function ensureBatch(
  pool: pg.Pool,
  { id, owner, title }: { id: string; owner: string; title: string | null },
): Promise<Batch | 'taken'> {
  // Most uploads into a batch find it; a read leaves no trace in it.
  const known = title === null ? await readRow(pool, READ, id, null) : null
  const row =
    known ?? (await pool.query<BatchRow>(MAKE, [id, owner, title])).rows[0] ?? (await readRow(pool, READ, id, null))
  if (!row) throw new Error(`the batch ${id} was neither made nor found`)
  return row.owner === owner ? batchOfRow(row) : 'taken'
}

export async function findBatch(pool: pg.Pool, id: string, owner: string | null): Promise<Batch | null> {
  const row = (await readRow(pool, READ, id, owner)) ?? (await readRow(pool, OF_RUNS, id, owner))
  return row && batchOfRow(row)
}

async function readRow(pool: pg.Pool, text: string, id: string, owner: string | null): Promise<BatchRow | null> {
  return (await pool.query<BatchRow>(text, [id, owner])).rows[0] ?? null
}
