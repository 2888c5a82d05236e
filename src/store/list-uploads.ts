/** Pages of uploads, newest first, each with the state of its run; a run that was retried is stood for by its newest retry. */

import type pg from 'pg'
import type { RunStatus } from '../run/status.ts'
import { cursorOfPair, pairOfCursor } from './pair-cursor.ts'
import type { Files, UploadPage } from './ports/files.ts'
import { UPLOAD_COLUMNS, type UploadRow, uploadOfRow } from './upload-row.ts'

// A retry has the payload and the owner of what it retries, and payloads have an index. Only a run that has ended can be retried.
const NEWEST_RETRY = `
SELECT n.id, n.status FROM run_search s JOIN model_runs n ON n.id = s.run_id
WHERE r.finished_at IS NOT NULL AND s.payload_hash = r.payload_hash AND s.owner = r.owner AND n.retry_of IS NOT NULL
ORDER BY s.created_at DESC, s.run_id DESC LIMIT 1`

// Not named, so that it is planned each time for the filters it is asked with: each has an index of its own. The time goes through the
// cursor as microseconds, which a Date does not have.
const LIST = `
SELECT ${UPLOAD_COLUMNS}, COALESCE(n.status, r.status) AS run_status, COALESCE(n.id, r.id, u.run_id) AS newest_run_id,
  (extract(epoch FROM u.created_at) * 1000000)::bigint::text AS created_us
FROM file_uploads u JOIN files f ON f.id = u.file_id LEFT JOIN model_runs r ON r.id = u.run_id
  LEFT JOIN LATERAL (${NEWEST_RETRY}) n ON true
WHERE ($1::text IS NULL OR u.owner = $1) AND ($2::uuid IS NULL OR u.batch_id = $2) AND ($3::text IS NULL OR u.file_id = $3)
  AND ($4::bigint IS NULL OR (u.created_at, u.id) < (to_timestamp(0) + $4 * interval '1 microsecond', $5::uuid))
ORDER BY u.created_at DESC, u.id DESC LIMIT $6`

const MICROSECONDS = /^\d{1,17}$/
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Row = UploadRow & { run_status: RunStatus | null; newest_run_id: string | null; created_us: string }

export async function listUploads(pool: pg.Pool, filter: Parameters<Files['uploads']>[0]): Promise<UploadPage> {
  const { owner, batchId, fileId, limit, cursor } = filter
  const [at, id] = cursor === null ? [null, null] : pairOfCursor(cursor, isPlace)
  const { rows } = await pool.query<Row>(LIST, [owner, batchId, fileId, at, id, limit + 1])
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    uploads: shown.map((row) => ({ ...uploadOfRow(row), runId: row.newest_run_id, runStatus: row.run_status })),
    nextCursor: rows.length > limit && last ? cursorOfPair([last.created_us, last.id]) : null,
  }
}

function isPlace([at, id]: [string, string]): boolean {
  return MICROSECONDS.test(at) && ID.test(id)
}
