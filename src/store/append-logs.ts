/**
 * Append to the logs of attempts, if they are still open under the epoch of the writer.
 *
 * The row of the attempt is locked first, so the numbers of a run's pieces follow each other without gaps and become visible in their
 * order: a reader that goes on from the last number it saw misses nothing. What is over the limit of an attempt is dropped, and a marker
 * takes the place of all of it.
 */

import type pg from 'pg'
import type { LogPiece } from './ports/attempt-logs.ts'
import type { Fence } from './ports/attempts.ts'

export const LOG_BYTES_MAX = 1024 * 1024

/** Longer pieces are cut, so that a limit cuts the log nearly where it is reached. */
const PIECE_CHARACTERS_MAX = 8_192

// Sorted by run, so that two appends lock in the same order.
const APPEND = `
WITH item AS MATERIALIZED (
  SELECT u.*, octet_length(u.text) AS bytes
  FROM unnest($1::uuid[], $2::int[], $3::int[], $4::text[], $5::text[]) WITH ORDINALITY AS u(run_id, epoch, attempt, stream, text, place)
), offered AS MATERIALIZED (
  SELECT run_id, epoch, attempt, sum(bytes) AS bytes FROM item GROUP BY run_id, epoch, attempt ORDER BY run_id
), held AS MATERIALIZED (
  SELECT a.run_id, a.attempt, a.lease_epoch, COALESCE(a.log_bytes, 0) AS bytes_before, o.bytes,
    COALESCE(a.log_no, (SELECT max(p.log_no) FROM run_attempts p WHERE p.run_id = a.run_id), 0) AS no_before
  FROM offered o JOIN run_attempts a ON a.run_id = ANY (ARRAY[o.run_id]) AND a.attempt = o.attempt
  WHERE a.lease_epoch = o.epoch AND a.finished_at IS NULL
  FOR UPDATE OF a
), placed AS (
  SELECT h.run_id, h.attempt, i.stream, i.text, h.no_before + row_number() OVER line AS no, h.bytes_before + sum(i.bytes) OVER line AS upto
  FROM held h JOIN item i ON i.run_id = h.run_id AND i.attempt = h.attempt AND i.epoch = h.lease_epoch
  WINDOW line AS (PARTITION BY h.run_id ORDER BY i.place)
), kept AS MATERIALIZED (
  SELECT run_id, attempt, no, stream, text FROM placed WHERE upto <= $6
), ended AS MATERIALIZED (
  SELECT h.run_id, h.attempt, h.bytes_before + h.bytes AS bytes, h.no_before + (SELECT count(*) FROM kept k WHERE k.run_id = h.run_id) AS no,
    h.bytes_before <= $6 AND h.bytes_before + h.bytes > $6 AS cut
  FROM held h
), counted AS (
  UPDATE run_attempts a SET log_bytes = e.bytes, log_no = e.no + e.cut::int, log_ref = 'inline'
  FROM ended e WHERE a.run_id = ANY (ARRAY[e.run_id]) AND a.attempt = e.attempt
), written AS (
  INSERT INTO run_logs (run_id, no, attempt, at, stream, text)
  SELECT run_id, no, attempt, clock(), stream, text FROM kept
  UNION ALL
  SELECT run_id, no + 1, attempt, clock(), 'log', format(E'[the log is longer than %s bytes: the rest is left out]\n', $6) FROM ended WHERE cut
)
SELECT run_id, attempt, lease_epoch AS epoch FROM held`

export type AppendItem = { fence: Fence; pieces: LogPiece[] }

export async function appendLogs(
  pool: pg.Pool,
  items: AppendItem[],
  bytesMax = LOG_BYTES_MAX,
): Promise<{ lost: Fence[] }> {
  const sorted = items.toSorted((a, b) => (a.fence.runId < b.fence.runId ? -1 : 1))
  const rows = sorted.flatMap(({ fence, pieces }) =>
    pieces.flatMap(({ stream, text }) => cut(storable(text)).map((part) => ({ fence, stream, text: part }))),
  )
  if (rows.length === 0) return { lost: [] }
  const held = await pool.query<{ run_id: string; attempt: number; epoch: number }>({
    name: 'append_logs',
    text: APPEND,
    values: [
      rows.map(({ fence }) => fence.runId),
      rows.map(({ fence }) => fence.epoch),
      rows.map(({ fence }) => fence.attempt),
      rows.map(({ stream }) => stream),
      rows.map(({ text }) => text),
      bytesMax,
    ],
  })
  const kept = new Set(held.rows.map((row) => `${row.run_id} ${row.attempt} ${row.epoch}`))
  const isLost = ({ runId, attempt, epoch }: Fence) => !kept.has(`${runId} ${attempt} ${epoch}`)
  return { lost: sorted.flatMap(({ fence, pieces }) => (pieces.length > 0 && isLost(fence) ? [fence] : [])) }
}

/** Postgres holds every text but one with NUL, nor can a lone half of a pair be sent. */
function storable(text: string): string {
  return text.replaceAll('\0', '\u{fffd}').toWellFormed()
}

/** Cut at the last line end that fits, or where nothing else helps, never inside a pair of halves. */
function cut(text: string): string[] {
  const parts: string[] = []
  let from = 0
  while (text.length - from > PIECE_CHARACTERS_MAX) {
    let to = text.lastIndexOf('\n', from + PIECE_CHARACTERS_MAX - 1) + 1
    if (to <= from) {
      to = from + PIECE_CHARACTERS_MAX
      const last = text.charCodeAt(to - 1)
      if (last >= 0xd800 && last <= 0xdbff) to -= 1
    }
    parts.push(text.slice(from, to))
    from = to
  }
  if (from < text.length) parts.push(text.slice(from))
  return parts
}
