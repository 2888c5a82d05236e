/**
 * Large logs of attempts that have ended, moved from rows into one blob each: which there are, their pieces, and the one statement that puts the
 * blob in the place of the rows. Readers see either the rows or the blob, never both and never neither.
 */

import type pg from 'pg'
import type { AttemptPlace, LargeLogs, LogStream, NewPack, PackedLog, StoredPiece } from './ports/attempt-logs.ts'

// By the index on the time of pieces, a window at a time, so that nothing but what was printed in it is looked at.
const FIND = `
WITH piece AS MATERIALIZED (
  SELECT run_id, attempt, at FROM run_logs
  WHERE at > COALESCE($1::timestamptz, clock() - interval '25 hours') AND at < clock() - interval '1 minute'
  ORDER BY at LIMIT $2
)
SELECT a.run_id, a.attempt, a.finished_at IS NOT NULL AS ended, NULL::text AS upto, NULL::int AS looked
FROM (SELECT DISTINCT run_id, attempt FROM piece UNION SELECT * FROM unnest($3::uuid[], $4::int[])) p
JOIN run_attempts a ON a.run_id = p.run_id AND a.attempt = p.attempt
WHERE a.log_bytes > $5
UNION ALL SELECT NULL, NULL, NULL, max(at)::text, count(*)::int FROM piece`

type FoundRow = { run_id: string | null; attempt: number; ended: boolean; upto: string | null; looked: number | null }

/**
 * Attempts whose log is large, among those that printed after `from` and those that were still open before. `upto` is where to go on from.
 */
export async function findLargeLogs(
  pool: pg.Pool,
  { from, open, bytes, limit }: { from: string | null; open: AttemptPlace[]; bytes: number; limit: number },
): Promise<LargeLogs> {
  const places = [open.map(({ runId }) => runId), open.map(({ attempt }) => attempt)]
  const { rows } = await pool.query<FoundRow>(FIND, [from, limit, ...places, bytes])
  const found = rows.flatMap(({ run_id: runId, attempt, ended }) => (runId === null ? [] : [{ runId, attempt, ended }]))
  const among = (isEnded: boolean) =>
    found.flatMap(({ runId, attempt, ended }) => (ended === isEnded ? [{ runId, attempt }] : []))
  const { upto, looked } = rows.at(-1)!
  return { ended: among(true), open: among(false), upto: upto ?? from, isMore: looked === limit }
}

const PIECES = 'SELECT no, attempt, at, stream, text FROM run_logs WHERE run_id = $1 AND attempt = $2 ORDER BY no'

type PieceRow = { no: number; attempt: number; at: Date; stream: LogStream; text: string }

export async function readWholeLog(pool: pg.Pool, { runId, attempt }: AttemptPlace): Promise<StoredPiece[]> {
  return (await pool.query<PieceRow>(PIECES, [runId, attempt])).rows
}

// Only if the rows are those that were packed: another process may have been first, or retention.
const PACK = `
WITH packed AS (
  INSERT INTO packed_logs (run_id, attempt, first_no, last_no, bytes, sha256, ref, last_at)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8
  WHERE EXISTS (SELECT FROM run_attempts a WHERE a.run_id = $1 AND a.attempt = $2 AND a.finished_at IS NOT NULL)
    AND (SELECT count(*) FROM run_logs l WHERE l.run_id = $1 AND l.attempt = $2 AND l.no BETWEEN $3 AND $4) = $9
  ON CONFLICT DO NOTHING
  RETURNING run_id
)
DELETE FROM run_logs l WHERE l.run_id = $1 AND l.attempt = $2 AND EXISTS (SELECT FROM packed)`

/** False, and nothing is changed, when the rows are not those any more. */
export async function packLog(pool: pg.Pool, pack: NewPack): Promise<boolean> {
  const { runId, attempt, firstNo, lastNo, bytes, sha256, ref, lastAt, pieces } = pack
  const values = [runId, attempt, firstNo, lastNo, bytes, sha256, ref, lastAt, pieces]
  return ((await pool.query(PACK, values)).rowCount ?? 0) > 0
}

const PACKS = `
SELECT attempt, first_no AS "firstNo", last_no AS "lastNo", bytes, sha256, ref FROM packed_logs
WHERE run_id = $1 AND last_no > $2 AND ($3::int IS NULL OR attempt = $3) ORDER BY first_no`

export async function findPacks(
  pool: pg.Pool,
  runId: string,
  { attempt, after }: { attempt: number | null; after: number },
): Promise<PackedLog[]> {
  const asked = { name: 'find_packed_logs', text: PACKS, values: [runId, after, attempt] }
  const { rows } = await pool.query<Omit<PackedLog, 'bytes'> & { bytes: string | number }>(asked)
  return rows.map((row) => ({ ...row, bytes: Number(row.bytes) }))
}

const FORGET = `
DELETE FROM packed_logs WHERE ctid = ANY (ARRAY(
  SELECT p.ctid FROM packed_logs p JOIN run_attempts a ON a.run_id = p.run_id AND a.attempt = p.attempt
  WHERE p.last_at < clock() - $1 * interval '1 millisecond' AND a.finished_at < clock() - $1 * interval '1 millisecond'
  ORDER BY p.last_at LIMIT $2))
RETURNING ref`

/** Answers where the bytes were. */
export async function forgetPacks(pool: pg.Pool, ageMs: number, limit: number): Promise<string[]> {
  return (await pool.query<{ ref: string }>(FORGET, [ageMs, limit])).rows.map(({ ref }) => ref)
}
