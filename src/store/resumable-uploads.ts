/**
 * Uploads that may be interrupted: each verb one guarded statement.
 *
 * `received` only ever grows by a part that begins where the last one ended, so two requests that send the same bytes cannot
 * both count. A part that is added while its upload is removed may be left out of the answer; its bytes are then swept like
 * others that no row names.
 */

import type pg from 'pg'
import type { RunStatus } from '../run/status.ts'
import type { ResumableUpload, ResumableUploads, UploadPart } from './ports/resumable-uploads.ts'
import { UPLOAD_COLUMNS, type UploadRow, uploadOfRow } from './upload-row.ts'

const COLUMNS = 'id, owner, bytes, received, metadata, created_at, expires_at, upload_id'
const AHEAD = (seconds: string) => `clock() + ${seconds}::float8 * interval '1 second'`

const CREATE = `
INSERT INTO resumable_uploads (id, owner, bytes, metadata, created_at, expires_at)
SELECT $1, $2::text, $3, $4, clock(), ${AHEAD('$5')}
WHERE (SELECT count(*) FROM resumable_uploads WHERE owner = $2 AND upload_id IS NULL AND expires_at > clock()) < $6
RETURNING ${COLUMNS}`

const FIND = `
SELECT ${COLUMNS} FROM resumable_uploads
WHERE id = $1 AND ($2::text IS NULL OR owner = $2) AND expires_at > clock()`

const APPEND = `
WITH grown AS (
  UPDATE resumable_uploads SET received = received + $3::bigint, expires_at = ${AHEAD('$5')}
  WHERE id = $1 AND received = $2::bigint AND received + $3::bigint <= bytes
    AND upload_id IS NULL AND expires_at > clock()
  RETURNING id, received
), kept AS (
  INSERT INTO upload_parts (resumable_id, from_byte, bytes, ref) SELECT id, $2::bigint, $3::bigint, $4::text FROM grown
)
SELECT received FROM grown`

const PARTS = 'SELECT from_byte, bytes, ref FROM upload_parts WHERE resumable_id = $1 ORDER BY from_byte'

// The second time changes nothing: its parts are gone, and which upload it became never changes.
const FINISH = `
WITH finished AS (
  UPDATE resumable_uploads SET upload_id = $2::uuid WHERE id = $1 AND received = bytes AND upload_id IS NULL
  RETURNING id
), gone AS (
  DELETE FROM upload_parts WHERE resumable_id IN (SELECT id FROM finished) RETURNING ref
)
SELECT ref FROM gone`

const BECAME = `
SELECT ${UPLOAD_COLUMNS}, run.status AS run_status
FROM resumable_uploads r JOIN file_uploads u ON u.id = r.upload_id JOIN files f ON f.id = u.file_id
  LEFT JOIN model_runs run ON run.id = u.run_id
WHERE r.id = $1`

const REMOVE = `
WITH gone AS (
  DELETE FROM resumable_uploads WHERE id = $1 AND ($2::text IS NULL OR owner = $2) RETURNING id
)
SELECT ARRAY(SELECT ref FROM upload_parts p WHERE p.resumable_id = gone.id) AS refs FROM gone`

const REMOVE_EXPIRED = `
WITH gone AS (
  DELETE FROM resumable_uploads WHERE id IN (
    SELECT id FROM resumable_uploads WHERE expires_at <= clock() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING id
)
SELECT ref FROM upload_parts WHERE resumable_id IN (SELECT id FROM gone)`

const UNFINISHED = `
SELECT ${COLUMNS} FROM resumable_uploads
WHERE received = bytes AND upload_id IS NULL AND expires_at > clock() AND expires_at <= ${AHEAD('$1')}
ORDER BY expires_at LIMIT $2`

type Row = {
  id: string
  owner: string
  bytes: number
  received: number
  metadata: Record<string, string>
  created_at: Date
  expires_at: Date
  upload_id: string | null
}
type PartRow = { from_byte: number; bytes: number; ref: string }
type Answered = <T>(asked: Promise<T>) => Promise<T>

export function createResumableUploads(pool: pg.Pool, answered: Answered): ResumableUploads {
  const ask = async <R extends object>(text: string, values: unknown[]) =>
    (await answered(pool.query<R>(text, values))).rows
  const refsOf = (rows: { ref: string }[]) => rows.map(({ ref }) => ref)
  return {
    async create({ id, owner, bytes, metadata, ttlSeconds, openMax }) {
      const values = [id, owner, bytes, JSON.stringify(metadata), ttlSeconds, openMax]
      const [row] = await ask<Row>(CREATE, values)
      return row ? resumableOfRow(row) : 'too-many'
    },
    async find(id, owner) {
      const [row] = await ask<Row>(FIND, [id, owner])
      return row ? resumableOfRow(row) : null
    },
    async append(id, { fromByte, bytes, ref }, ttlSeconds) {
      return (await ask<{ received: number }>(APPEND, [id, fromByte, bytes, ref, ttlSeconds]))[0] ?? null
    },
    async parts(id) {
      return (await ask<PartRow>(PARTS, [id])).map(partOfRow)
    },
    async finish(id, uploadId) {
      return refsOf(await ask(FINISH, [id, uploadId]))
    },
    async became(id) {
      const [row] = await ask<UploadRow & { run_status: RunStatus | null }>(BECAME, [id])
      return row ? { ...uploadOfRow(row), runStatus: row.run_status } : null
    },
    async remove(id, owner) {
      return (await ask<{ refs: string[] }>(REMOVE, [id, owner]))[0]?.refs ?? null
    },
    async removeExpired(limit) {
      return refsOf(await ask(REMOVE_EXPIRED, [limit]))
    },
    async unfinished({ ttlSeconds, quietSeconds, limit }) {
      return (await ask<Row>(UNFINISHED, [ttlSeconds - quietSeconds, limit])).map(resumableOfRow)
    },
  }
}

function resumableOfRow(row: Row): ResumableUpload {
  const { id, owner, bytes, received, metadata } = row
  const { created_at: createdAt, expires_at: expiresAt, upload_id: uploadId } = row
  return { id, owner, bytes, received, metadata, createdAt, expiresAt, uploadId }
}

function partOfRow({ from_byte: fromByte, bytes, ref }: PartRow): UploadPart {
  return { fromByte, bytes, ref }
}
