/**
 * Read the steps of runs, with those of the runs they go on from: `chain` leads from a run to its sources, as far as they are of the same
 * model, version and owner. Under one name the nearest counts.
 */

import type pg from 'pg'
import { itemOfName } from '../run/step-names.ts'
import { foreignCursor, nameOfCursor, pageOf } from './name-cursor.ts'
import type { Step, StepItems } from './ports/steps.ts'
import { type StepRow, stepColumns, stepOfRow } from './step-row.ts'

/** A retry of a retry of a retry … is followed so far; what lies beyond is done again. */
const SOURCES_MAX = 100

const chainOf = (roots: string) => `
RECURSIVE chain AS (
  SELECT r.id AS root_id, r.id AS run_id, 0 AS depth, r.model, r.model_version, r.owner FROM ${roots}
  UNION ALL
  SELECT c.root_id, r.id, c.depth + 1, r.model, r.model_version, r.owner
  FROM chain c JOIN run_step_sources s ON s.run_id = c.run_id
    JOIN model_runs r ON r.id = s.source_run_id AND r.model = c.model AND r.model_version = c.model_version AND r.owner = c.owner
  WHERE c.depth < ${SOURCES_MAX}
)`

const done = (which: string) => `
WITH ${chainOf('model_runs r WHERE r.id = $1')}, done AS (
  SELECT DISTINCT ON (s.name) s.*, c.depth FROM chain c JOIN run_steps s ON s.run_id = c.run_id WHERE ${which}
  ORDER BY s.name, c.depth
)`

const LIST = `${done('true')} SELECT ${stepColumns('$2')} FROM done ORDER BY depth DESC, no`

const LIST_NAMED = `${done('s.item_of IS NULL')} SELECT ${stepColumns('$2')} FROM done ORDER BY depth DESC, no`

const COUNT_ITEMS = `${done('s.item_of IS NOT NULL')}
SELECT item_of AS map, count(*)::int AS done, max(tries) AS tries, min(started_at) AS started_at, max(finished_at) AS finished_at
FROM done GROUP BY item_of ORDER BY max(depth) DESC, min(no)`

const LIST_ITEMS = `${done('s.item_of = $3 AND s.item_no > $4')} SELECT ${stepColumns('$2')} FROM done ORDER BY item_no LIMIT $5`

const BYTES_OF = `
WITH ${chainOf('unnest($1::uuid[]) AS u(id) JOIN model_runs r ON r.id = u.id')}, done AS (
  SELECT DISTINCT ON (c.root_id, s.name) c.root_id, s.output_bytes FROM chain c JOIN run_steps s ON s.run_id = c.run_id
  ORDER BY c.root_id, s.name, c.depth
)
SELECT root_id AS run_id, sum(output_bytes)::float8 AS bytes FROM done GROUP BY root_id`

// A look into the index for each run, whatever the planner believes of the tables. A source may have had no steps itself.
const HAVE_ANY = `
SELECT u.run_id FROM unnest($1::uuid[]) AS u(run_id) CROSS JOIN LATERAL (
  (SELECT FROM run_steps s WHERE s.run_id = ANY (ARRAY[u.run_id]) LIMIT 1)
  UNION ALL (SELECT FROM run_step_sources c WHERE c.run_id = ANY (ARRAY[u.run_id]))
  LIMIT 1
) found`

export async function listSteps(pool: pg.Pool, runId: string, textBytesMax: number): Promise<Step[]> {
  const { rows } = await pool.query<StepRow>({ name: 'list_steps', text: LIST, values: [runId, textBytesMax] })
  return rows.map(stepOfRow)
}

type ItemsRow = { map: string; done: number; tries: number; started_at: Date | null; finished_at: Date }

export async function overviewOfSteps(
  pool: pg.Pool,
  runId: string,
  textBytesMax: number,
): Promise<{ steps: Step[]; items: StepItems[] }> {
  const named = await pool.query<StepRow>({ name: 'list_named_steps', text: LIST_NAMED, values: [runId, textBytesMax] })
  const counted = await pool.query<ItemsRow>({ name: 'count_step_items', text: COUNT_ITEMS, values: [runId] })
  return {
    steps: named.rows.map(stepOfRow),
    items: counted.rows.map(({ started_at: startedAt, finished_at: finishedAt, ...row }) => ({
      ...row,
      startedAt,
      finishedAt,
    })),
  }
}

export async function listItems(
  pool: pg.Pool,
  runId: string,
  map: string,
  { limit, cursor, textBytesMax }: { limit: number; cursor: string | null; textBytesMax: number },
): Promise<{ steps: Step[]; nextCursor: string | null }> {
  const values = [runId, textBytesMax, map, placeOfCursor(cursor), limit + 1]
  const { rows } = await pool.query<StepRow>({ name: 'list_step_items', text: LIST_ITEMS, values })
  const { items, nextCursor } = pageOf(rows, limit, ({ name }) => String(itemOfName(name)?.no))
  return { steps: items.map(stepOfRow), nextCursor }
}

/** The first page begins after the place before the first. */
function placeOfCursor(cursor: string | null): number {
  if (cursor === null) return -1
  const place = nameOfCursor(cursor)
  if (!/^\d{1,9}$/.test(place)) throw foreignCursor()
  return Number(place)
}

export async function bytesOfSteps(pool: pg.Pool, runIds: string[]): Promise<Map<string, number>> {
  if (runIds.length === 0) return new Map()
  const { rows } = await pool.query<{ run_id: string; bytes: number }>({
    name: 'step_bytes_of',
    text: BYTES_OF,
    values: [runIds],
  })
  return new Map(rows.map((row) => [row.run_id, row.bytes]))
}

/** Which of them have steps, or a run they go on from. */
export async function haveSteps(pool: pg.Pool, runIds: string[]): Promise<boolean[]> {
  const { rows } = await pool.query<{ run_id: string }>({ name: 'have_steps', text: HAVE_ANY, values: [runIds] })
  const found = new Set(rows.map((row) => row.run_id))
  return runIds.map((runId) => found.has(runId))
}
