/** The files on record of a run: pages in the order of attempts and names, and one of them. */

import type pg from 'pg'
import { cursorOfPair, pairOfCursor } from './pair-cursor.ts'
import type { StoredArtifact } from './ports/artifacts.ts'

const COLUMNS = 'attempt, name, bytes, sha256, ref, at'

const LIST = `
SELECT ${COLUMNS} FROM run_artifacts
WHERE run_id = $1 AND (attempt, name) > ($2, $3) AND ($4::int IS NULL OR attempt = $4)
ORDER BY attempt, name LIMIT $5`

const FIND = `SELECT ${COLUMNS} FROM run_artifacts WHERE run_id = $1 AND attempt = $2 AND name = $3`

const NUMBER = /^\d{1,9}$/

export async function listArtifacts(
  pool: pg.Pool,
  runId: string,
  { attempt, limit, cursor }: { attempt: number | null; limit: number; cursor: string | null },
): Promise<{ items: StoredArtifact[]; nextCursor: string | null }> {
  const [after, name] = cursor === null ? ['0', ''] : pairOfCursor(cursor, ([number]) => NUMBER.test(number))
  const { rows } = await pool.query<StoredArtifact>(LIST, [runId, Number(after), name, attempt, limit + 1])
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last ? cursorOfPair([String(last.attempt), last.name]) : null }
}

export async function findArtifact(
  pool: pg.Pool,
  runId: string,
  attempt: number,
  name: string,
): Promise<StoredArtifact | null> {
  return (await pool.query<StoredArtifact>(FIND, [runId, attempt, name])).rows[0] ?? null
}
