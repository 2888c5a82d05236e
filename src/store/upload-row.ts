/** How a row of file_uploads, with its file, becomes an Upload. */

import type { Upload } from './ports/files.ts'

/** Of `file_uploads u JOIN files f`. */
export const UPLOAD_COLUMNS = `u.id, u.owner, u.file_id, u.name, u.type, u.batch_id, u.run_id, u.duplicate, u.created_at, f.bytes`

export type UploadRow = {
  id: string
  owner: string
  file_id: string
  name: string
  type: string
  batch_id: string | null
  run_id: string | null
  duplicate: boolean
  created_at: Date
  bytes: number
}

export function uploadOfRow(row: UploadRow): Upload {
  return {
    id: row.id,
    owner: row.owner,
    fileId: row.file_id,
    name: row.name,
    bytes: row.bytes,
    type: row.type,
    batchId: row.batch_id,
    runId: row.run_id,
    duplicate: row.duplicate,
    createdAt: row.created_at,
  }
}
