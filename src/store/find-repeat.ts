/** An upload that was recorded before: under the same id, when a reply was lost, or under the same key, when a request is repeated. */

import type pg from 'pg'
import { Refusal } from '../run/errors.ts'
import type { AcceptedUpload, NewUpload } from './ports/files.ts'
import { RUN_COLUMNS, type RunRow, runOfRow } from './run-row.ts'
import { UPLOAD_COLUMNS, type UploadRow, uploadOfRow } from './upload-row.ts'

const READ_UPLOAD = `
SELECT ${UPLOAD_COLUMNS}, f.ref FROM file_uploads u JOIN files f ON f.id = u.file_id WHERE u.owner = $1 AND u.id = $2
UNION
SELECT ${UPLOAD_COLUMNS}, f.ref FROM file_uploads u JOIN files f ON f.id = u.file_id WHERE u.owner = $1 AND u.key = $3`

const READ_RUN = `SELECT ${RUN_COLUMNS} FROM model_runs WHERE id = $1`

/** Null when there is none. A refusal when the key stands for another file or another run. */
export async function findRepeat(pool: pg.Pool, asked: NewUpload): Promise<AcceptedUpload | Refusal | null> {
  const { rows } = await pool.query<UploadRow & { ref: string }>(READ_UPLOAD, [asked.owner, asked.id, asked.key])
  const row = rows.find(({ id }) => id === asked.id) ?? rows[0]
  if (!row) return null
  const run = row.run_id === null ? null : (await pool.query<RunRow>(READ_RUN, [row.run_id])).rows[0]
  if (row.file_id !== asked.file.id || !isSameRun(asked, row, run)) return keyReused(asked, row)
  return {
    upload: uploadOfRow(row),
    run: run ? { run: runOfRow(run), idempotentHit: row.duplicate || row.id !== asked.id } : null,
    isStored: row.ref === asked.file.ref,
    isRepeat: row.id !== asked.id,
    ref: row.ref,
  }
}

/** A run that is not there any more cannot be compared, and counts as the same. */
function isSameRun({ run }: NewUpload, row: UploadRow, found: RunRow | null | undefined): boolean {
  if (row.run_id === null || run === null) return row.run_id === null && run === null
  return !found || found.payload_hash === run.payloadHash
}

function keyReused({ file }: NewUpload, row: UploadRow): Refusal {
  const detail = `The idempotency key was used for the upload ${row.id} with another file, model or parameters.`
  const extra = { upload_id: row.id, file_id: file.id, original_file_id: row.file_id, run_id: row.run_id }
  return new Refusal('idempotency-key-reused', detail, { extra })
}
