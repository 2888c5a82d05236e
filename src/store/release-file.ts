/**
 * Release: an owner gives a file up, with the records of the uploads that brought it. Not while a run of this owner has it among its
 * parameters. The file is marked, and forgotten later when nobody else needs it (`collect-files.ts`).
 */

import type pg from 'pg'
import { inTransaction } from './in-transaction.ts'

/** An upload of the same file at this moment is waited for, or waits. */
const HOLD = `SELECT FROM owner_files WHERE owner = $1 AND file_id = $2 FOR UPDATE`

// In a statement of its own: this one sees what an upload that was waited for has made.
const IN_USE = `
SELECT FROM run_files f JOIN model_runs r ON r.id = f.run_id WHERE f.file_id = $2 AND r.owner = $1 LIMIT 1`

const RELEASE = `
WITH documents_gone AS (DELETE FROM documents WHERE owner = $1 AND file_id = $2
), uploads_gone AS (DELETE FROM file_uploads WHERE owner = $1 AND file_id = $2
), marked AS (UPDATE files SET released_at = clock() WHERE id = $2)
DELETE FROM owner_files WHERE owner = $1 AND file_id = $2`

export async function releaseFile(
  pool: pg.Pool,
  id: string,
  owner: string,
): Promise<'released' | 'in-use' | 'not-found'> {
  const answer = await inTransaction(pool, async (client) => {
    if ((await client.query(HOLD, [owner, id])).rowCount === 0) return 'not-found'
    if ((await client.query(IN_USE, [owner, id])).rowCount !== 0) return 'in-use'
    await client.query(RELEASE, [owner, id])
    return 'released'
  })
  return answer!
}
