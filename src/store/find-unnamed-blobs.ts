/**
 * Of references to stored bytes, those that no row names: their process died between the two, or the row is gone.
 *
 * The reference tells the kind and mostly the run, so that each look goes through an index. Bytes of an attempt or a step are left alone as
 * long as the attempt or run is open: only then can a row come to name them, and a row that does not come then never comes.
 */

import type pg from 'pg'
import type { Blobs } from './ports/blobs.ts'

type Found = { ref: string; runId: string; attempt: number }
type Kind = { shape: RegExp; statement: string; values(found: Found[]): unknown[] }

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

const refs = (found: Found[]) => [found.map(({ ref }) => ref)]
const runs = (found: Found[]) => [...refs(found), found.map(({ runId }) => runId)]
const attempts = (found: Found[]) => [...runs(found), found.map(({ attempt }) => attempt)]

const byRef = (table: string) =>
  `SELECT i.ref FROM unnest($1::text[]) AS i(ref) WHERE NOT EXISTS (SELECT FROM ${table} t WHERE t.ref = i.ref)`

const byAttempt = (named: string) => `
SELECT i.ref FROM unnest($1::text[], $2::uuid[], $3::int[]) AS i(ref, run_id, attempt)
WHERE NOT EXISTS (SELECT FROM run_attempts a WHERE a.run_id = i.run_id AND a.attempt = i.attempt AND a.finished_at IS NULL)
  AND NOT EXISTS (${named})`

// A run may have thousands of steps: they are read once, not once for each reference.
const STEPS = `
WITH item AS MATERIALIZED (
  SELECT i.ref, i.run_id FROM unnest($1::text[], $2::uuid[]) AS i(ref, run_id)
  WHERE NOT EXISTS (SELECT FROM model_runs r WHERE r.id = i.run_id AND r.finished_at IS NULL)
)
SELECT ref FROM item
EXCEPT SELECT s.output_ref FROM run_steps s WHERE s.run_id IN (SELECT run_id FROM item)`

const KINDS: Kind[] = [
  { shape: new RegExp(`^artifacts/(${UUID})\\.file$`), statement: byRef('files'), values: refs },
  { shape: new RegExp(`^artifacts/(${UUID})\\.part-`), statement: byRef('upload_parts'), values: refs },
  { shape: new RegExp(`^artifacts/(${UUID})\\.step-`), statement: STEPS, values: runs },
  {
    shape: new RegExp(`^artifacts/(${UUID})\\.a(\\d{1,9})\\.json$`),
    statement: byAttempt(
      'SELECT FROM run_attempts a WHERE a.run_id = i.run_id AND a.attempt = i.attempt AND a.result_ref = i.ref',
    ),
    values: attempts,
  },
  {
    shape: new RegExp(`^artifacts/(${UUID})\\.a(\\d{1,9})\\.files\\.`),
    statement: byAttempt(
      'SELECT FROM run_artifacts t WHERE t.run_id = i.run_id AND t.attempt = i.attempt AND t.ref = i.ref',
    ),
    values: attempts,
  },
  {
    shape: new RegExp(`^artifacts/(${UUID})\\.a(\\d{1,9})\\.log-`),
    statement: byAttempt(
      'SELECT FROM packed_logs t WHERE t.run_id = i.run_id AND t.attempt = i.attempt AND t.ref = i.ref',
    ),
    values: attempts,
  },
]

export function createBlobs(pool: pg.Pool): Blobs {
  return {
    async unnamed(among) {
      const unnamed: string[] = []
      for (const { shape, statement, values } of KINDS) {
        const found = among.flatMap((ref) => asFound(ref, shape.exec(ref)))
        if (found.length === 0) continue
        unnamed.push(...(await pool.query<{ ref: string }>(statement, values(found))).rows.map(({ ref }) => ref))
      }
      return unnamed
    },
  }
}

function asFound(ref: string, match: RegExpExecArray | null): Found[] {
  return match ? [{ ref, runId: match[1]!, attempt: Number(match[2] ?? 0) }] : []
}
