/**
 * Collect: forgets files that somebody gave up and that nobody has and nothing uses any more. Answers where their bytes lie: these may
 * be deleted now, and when that does not happen they are bytes that no row names.
 *
 * Whoever needs a file refers to it by a foreign key. So one that somebody begins to need at this moment cannot be deleted: the
 * statement fails, and is repeated file by file without the offender. A marked file that is in use loses its mark.
 */

import type pg from 'pg'
import { isAnyForeignKeyViolation } from './pg-errors.ts'

const NEEDED = ['owner_files', 'documents', 'file_uploads', 'run_files']
  .map((table) => `EXISTS (SELECT FROM ${table} n WHERE n.file_id = f.id)`)
  .join(' OR ')

const CANDIDATES = `
SELECT f.id, f.released_at::text, ${NEEDED} AS is_needed FROM files f
WHERE f.released_at < clock() - $1 * interval '1 millisecond' ORDER BY f.released_at LIMIT $2`

// A release that came after the look has set a new mark, which stays.
const UNMARK = `
UPDATE files f SET released_at = NULL FROM unnest($1::text[], $2::timestamptz[]) AS i(id, released_at)
WHERE f.id = i.id AND f.released_at = i.released_at`

const FORGET = `
WITH gone AS MATERIALIZED (
  SELECT f.id FROM files f WHERE f.id = ANY ($1::text[]) AND NOT (${NEEDED}) ORDER BY f.id FOR UPDATE SKIP LOCKED
)
DELETE FROM files f USING gone WHERE f.id = gone.id RETURNING f.ref`

type Candidate = { id: string; released_at: string; is_needed: boolean }

export async function collectFiles(
  pool: pg.Pool,
  { olderThanMs, limit }: { olderThanMs: number; limit: number },
): Promise<string[]> {
  const { rows } = await pool.query<Candidate>(CANDIDATES, [olderThanMs, limit])
  const needed = rows.filter((row) => row.is_needed)
  if (needed.length > 0) await pool.query(UNMARK, [needed.map(({ id }) => id), needed.map((row) => row.released_at)])
  const free = rows.filter((row) => !row.is_needed).map(({ id }) => id)
  if (free.length === 0) return []
  try {
    return await forget(pool, free)
  } catch (error) {
    if (!isAnyForeignKeyViolation(error)) throw error
    const refs: string[] = []
    for (const id of free) refs.push(...(await forget(pool, [id]).catch(nothingIfNeeded)))
    return refs
  }
}

async function forget(pool: pg.Pool, ids: string[]): Promise<string[]> {
  return (await pool.query<{ ref: string }>(FORGET, [ids])).rows.map(({ ref }) => ref)
}

function nothingIfNeeded(error: unknown): string[] {
  if (isAnyForeignKeyViolation(error)) return []
  throw error
}
