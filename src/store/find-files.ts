/** Files as their owners have them: under the name and type of the latest upload. */

import type pg from 'pg'
import type { OwnedFile, RunFile, StoredFile } from './ports/files.ts'

const LATEST = `
SELECT name, type FROM file_uploads u WHERE u.file_id = f.id AND u.owner = o.owner ORDER BY u.created_at DESC LIMIT 1`

const FIND = `
SELECT DISTINCT ON (o.file_id) f.id, f.bytes, COALESCE(u.type, f.type) AS type, f.ref, o.owner, COALESCE(u.name, 'file') AS name, o.created_at
FROM owner_files o JOIN files f ON f.id = o.file_id LEFT JOIN LATERAL (${LATEST}) u ON true
WHERE o.file_id = ANY ($1::text[]) AND ($2::text IS NULL OR o.owner = $2)
ORDER BY o.file_id, o.created_at, o.owner`

/** By the name of the parameter, then in the order of its list. */
export const RUN_FILE_ORDER = `split_part(r.parameter, '/', 2) COLLATE "C", length(r.parameter), r.parameter COLLATE "C"`

const OF_RUN = `
SELECT r.parameter, r.file_id AS id, r.file_id, r.name, f.bytes, f.ref, COALESCE(u.type, f.type) AS type
FROM model_runs o JOIN run_files r ON r.run_id = o.id JOIN files f ON f.id = r.file_id LEFT JOIN LATERAL (${LATEST}) u ON true
WHERE o.id = $1 ORDER BY ${RUN_FILE_ORDER}`

type FileRow = StoredFile & { owner: string; name: string; created_at: Date }

export async function findFiles(
  pool: pg.Pool,
  ids: readonly string[],
  owner: string | null,
): Promise<Map<string, OwnedFile>> {
  if (ids.length === 0) return new Map()
  const { rows } = await pool.query<FileRow>(FIND, [ids, owner])
  return new Map(rows.map(({ created_at: createdAt, ...file }) => [file.id, { ...file, createdAt }]))
}

export async function filesOfRun(pool: pg.Pool, runId: string): Promise<(StoredFile & RunFile)[]> {
  const { rows } = await pool.query<StoredFile & Omit<RunFile, 'fileId'> & { file_id: string }>(OF_RUN, [runId])
  return rows.map(({ file_id: fileId, ...file }) => ({ ...file, fileId }))
}
