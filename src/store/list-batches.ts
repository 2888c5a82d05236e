/** Pages of batches, newest first. Those that only runs name are not among them: nothing but their runs knows of them. */

import type pg from 'pg'
import { type BatchRow, batchOfRow } from './batch-row.ts'
import { cursorOfPair, pairOfCursor } from './pair-cursor.ts'
import type { BatchPage } from './ports/batches.ts'

// The time goes through the cursor as text: a Date has no microseconds.
const COLUMNS = `id, owner, title, created_at,
  to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at_text`
const BEFORE = '(created_at, id) < ($2::timestamptz, $3::uuid)'
const LIST_ALL = `SELECT ${COLUMNS} FROM batches WHERE ${BEFORE} ORDER BY created_at DESC, id DESC LIMIT $1`
const LIST_OWNED = `
SELECT ${COLUMNS} FROM batches WHERE owner = $4 AND ${BEFORE} ORDER BY created_at DESC, id DESC LIMIT $1`

const NEWEST = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff'] as const
const TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export async function listBatches(
  pool: pg.Pool,
  { owner, limit, cursor }: { owner: string | null; limit: number; cursor: string | null },
): Promise<BatchPage> {
  const [at, id] = cursor === null ? NEWEST : pairOfCursor(cursor, isPlace)
  const values = [limit + 1, at, id]
  const { rows } =
    owner === null
      ? await pool.query<BatchRow & { created_at_text: string }>(LIST_ALL, values)
      : await pool.query<BatchRow & { created_at_text: string }>(LIST_OWNED, [...values, owner])
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor = rows.length > limit && last ? cursorOfPair([last.created_at_text, last.id]) : null
  return { batches: shown.map(batchOfRow), nextCursor }
}

/** A day that a month does not have, such as the 31st of February, is no place either. */
function isPlace([at, id]: [string, string]): boolean {
  return TIME.test(at) && new Date(at).toISOString().slice(0, 10) === at.slice(0, 10) && ID.test(id)
}
