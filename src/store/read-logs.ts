/** Pages of logs: of one run, the pieces after a number; or of several that are followed, what is new. */

import type pg from 'pg'
import type { LogStream, StoredPiece } from './ports/attempt-logs.ts'

const READ_LOGS = `
SELECT no, attempt, at, stream, text FROM run_logs
WHERE run_id = $1 AND no > $2 AND ($3::int IS NULL OR attempt = $3) ORDER BY no LIMIT $4`

const PAGE = 100

const READ_NEW = `
SELECT i.run_id, l.* FROM unnest($1::uuid[], $2::int[]) AS i(run_id, after)
CROSS JOIN LATERAL (
  SELECT no, attempt, at, stream, text FROM run_logs WHERE run_id = i.run_id AND no > i.after ORDER BY no LIMIT ${PAGE}
) l
ORDER BY i.run_id, l.no`

type Row = { no: number; attempt: number; at: Date; stream: LogStream; text: string }

export async function readLogs(
  pool: pg.Pool,
  runId: string,
  { attempt, after, limit }: { attempt: number | null; after: number; limit: number },
): Promise<{ pieces: StoredPiece[]; next: number | null }> {
  const { rows } = await pool.query<Row>({
    name: 'read_logs',
    text: READ_LOGS,
    values: [runId, after, attempt, limit + 1],
  })
  const pieces = rows.slice(0, limit)
  return { pieces, next: rows.length > limit ? pieces.at(-1)!.no : null }
}

export async function readNewLogs(
  pool: pg.Pool,
  places: { runId: string; after: number }[],
): Promise<Map<string, StoredPiece[]>> {
  const values = [places.map(({ runId }) => runId), places.map(({ after }) => after)]
  const { rows } = await pool.query<Row & { run_id: string }>({ name: 'read_new_logs', text: READ_NEW, values })
  const found = new Map<string, StoredPiece[]>()
  for (const { run_id, ...piece } of rows) found.set(run_id, [...(found.get(run_id) ?? []), piece])
  return found
}
