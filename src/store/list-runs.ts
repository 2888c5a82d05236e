/**
 * Listing runs, newest first, in keyset pages. Each status is read from its own end of the (status, created_at) index and the
 * streams are merged, so a page costs the same whatever the history weighs.
 */

import type pg from 'pg'
import { Refusal } from '../run/errors.ts'
import { RUN_COLUMNS, type RunRow, runOfRow } from './run-row.ts'
import type { RunFilter, RunPage } from './store.ts'

const LIST = `
SELECT page.*, (extract(epoch FROM page.created_at) * 1000000)::bigint AS created_at_us
FROM unnest($1::run_status[]) AS s(wanted)
CROSS JOIN LATERAL (
  SELECT ${RUN_COLUMNS} FROM model_runs
  WHERE status = s.wanted AND created_at <= $2 AND (created_at, id) < ($2, $3) AND ($5::text IS NULL OR owner = $5)
  ORDER BY created_at DESC, id DESC LIMIT $4
) page
ORDER BY page.created_at DESC, page.id DESC LIMIT $4`

const CURSOR = /^(\d{1,16})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

const START = { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

export async function listRuns(
  pool: pg.Pool,
  filter: RunFilter,
  page: { limit: number; cursor: string | null },
): Promise<RunPage> {
  const start = page.cursor ? decodeCursor(page.cursor) : START
  const values = [filter.statuses, start.at, start.id, page.limit + 1, filter.owner]
  const { rows } = await pool.query<RunRow & { created_at_us: number }>({ text: LIST, values })
  const shown = rows.slice(0, page.limit)
  const last = shown.at(-1)
  const more = rows.length > page.limit
  return {
    runs: shown.map(runOfRow),
    nextCursor: more && last ? encodeCursor(last.created_at_us, last.id) : null,
  }
}

function encodeCursor(createdAtUs: number, id: string): string {
  return Buffer.from(`${createdAtUs}.${id}`).toString('base64url')
}

function decodeCursor(cursor: string): { at: string; id: string } {
  const match = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (!match) {
    const detail = 'does not come from a page of this list'
    throw new Refusal('invalid-query', 'The cursor is not one of ours.', { errors: [{ pointer: '/cursor', detail }] })
  }
  const micros = match[1]!.padStart(7, '0')
  const seconds = Number(micros.slice(0, -6))
  const iso = new Date(seconds * 1000).toISOString().replace('.000Z', `.${micros.slice(-6)}Z`)
  return { at: iso, id: match[2]! }
}
