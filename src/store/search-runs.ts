/**
 * Pages of the runs that fit a filter, in order of time.
 *
 * A page goes through the rarest of the wanted things (`choose-walk.ts`) in order and tests the rest of the filter on each
 * run, until the page is full or it has looked at its fill; then it says where it ended. It looks at a few runs first, and at
 * more only as far as its time allows: runs that lie far apart on disk take longer. So no filter costs more than a bounded
 * number of runs, and hardly more than a set time, however many runs there are and however few fit.
 */

import type pg from 'pg'
import { chooseWalk, type GlanceLimits } from './choose-walk.ts'
import type { PageRequest, RunFilter } from './ports/search.ts'
import { RUN_COLUMNS, type RunRow, runOfRow } from './run-row.ts'
import { columnsNeeded, conditionsOf, type Narrowed, narrow, Values } from './search-conditions.ts'
import { decodeCursor, encodeCursor, markOf, positionOf } from './search-cursor.ts'
import { isSorted, type Stretch, type WalkName, walkHas, walkText } from './search-walks.ts'
import type { RunPage } from './store.ts'

/** `lookedAt`: runs looked at for one page. */
export type SearchLimits = GlanceLimits & { lookedAt: number }

export const SEARCH_LIMITS: SearchLimits = { lookedAt: 5_000, glance: 1_000, textMatches: 1_000 }

/** Runs of the first look, and of the smallest one worth a statement of its own. */
const FIRST_LOOK = 400
const LOOK_MIN = 200
/** No look is begun that would probably end later than this after the first. */
const LOOKING_MS_MAX = 15

type Row = RunRow & { found_id: string; created_at_us: number; is_end: boolean }

const NIL = '00000000-0000-0000-0000-000000000000'
const NOTHING: RunPage = { runs: [], nextCursor: null }

export async function searchRuns(
  pool: pg.Pool,
  filter: RunFilter,
  page: PageRequest,
  limits: SearchLimits = SEARCH_LIMITS,
): Promise<RunPage> {
  const mark = markOf(filter, page.order)
  const stretch = stretchOf(filter, page, mark)
  const narrowed = narrow(filter)
  if (!narrowed) return NOTHING
  const walk = await chooseWalk(pool, narrowed, stretch, limits)
  if (!walk) return NOTHING
  const { found, end } = await look(pool, { walk, filter: narrowed, stretch }, page.limit, limits)
  const shown = found.slice(0, page.limit)
  // A full page ends with its last run; one that is not ends where it stopped looking, if it did.
  const last = found.length > page.limit ? shown.at(-1) : end
  return {
    // A run that retention has deleted may still be found for a moment.
    runs: shown.filter((row) => row.id !== null).map(runOfRow),
    nextCursor: last ? encodeCursor(last.created_at_us, last.found_id, mark) : null,
  }
}

type Way = { walk: WalkName; filter: Narrowed; stretch: Stretch }

/** One run more than the page holds, or all there are, or those before `end`, where looking stopped. */
async function look(
  pool: pg.Pool,
  { walk, filter, stretch }: Way,
  limit: number,
  { lookedAt, textMatches }: SearchLimits,
): Promise<{ found: Row[]; end: Row | undefined }> {
  const started = performance.now()
  const found: Row[] = []
  let { from } = stretch
  let looked = 0
  // Matches of a text or an area were few a moment ago, and are sorted all at once; new ones may have come since.
  let fill = isSorted(walk) ? 4 * textMatches : Math.min(FIRST_LOOK, lookedAt)
  for (;;) {
    const statement = pageStatement(
      { walk, filter, stretch: { ...stretch, from } },
      { limit: limit - found.length, fill },
    )
    const { rows } = await pool.query<Row>(statement)
    found.push(...rows.filter((row) => !row.is_end))
    const end = rows.find((row) => row.is_end)
    looked += fill
    const elapsedMs = Math.max(performance.now() - started, 0.1)
    fill = Math.floor(Math.min(lookedAt - looked, (looked / elapsedMs) * (LOOKING_MS_MAX - elapsedMs)))
    if (found.length > limit || !end || isSorted(walk) || fill < LOOK_MIN) return { found, end }
    from = positionOf(end.created_at_us, end.found_id)
  }
}

function stretchOf(filter: RunFilter, { cursor, order }: PageRequest, mark: string): Stretch {
  const { createdAfter, createdBefore } = filter
  const isDown = order === 'created_at_desc'
  const start = { at: isDown ? (createdBefore ?? 'infinity') : (createdAfter ?? '-infinity'), id: NIL }
  const until = isDown ? (createdAfter ?? '-infinity') : (createdBefore ?? 'infinity')
  return { order, from: cursor === null ? start : decodeCursor(cursor, mark), until }
}

/**
 * `looked` is filled only as far as it is read: the second part, the run at which the fill is reached, is read only when the
 * first did not fill the page. Runs are looked up in LATERAL queries with a LIMIT, for which there is one plan: one after the
 * other, in order.
 */
function pageStatement(
  { walk, filter, stretch }: Way,
  { limit, fill }: { limit: number; fill: number },
): { text: string; values: unknown[] } {
  const values = new Values()
  const has = walkHas(walk)
  const columns = columnsNeeded(filter).filter(has)
  const looked = walkText(walk, filter, { columns, limit: fill, stretch, values })
  const conditions = conditionsOf(filter, values, has, walk)
  const run = conditions.needsRun ? 'CROSS JOIN LATERAL (SELECT * FROM model_runs WHERE id = s.id LIMIT 1) r' : ''
  const text = `
WITH looked AS MATERIALIZED (${looked})
SELECT ${RUN_COLUMNS.replaceAll(/\b[a-z_]+\b/g, 'run.$&')}, f.id AS found_id, f.is_end,
  (extract(epoch FROM f.created_at) * 1000000)::bigint AS created_at_us,
  (SELECT since FROM run_overdue o WHERE o.run_id = run.id AND o.attempt = run.attempt_count AND run.status = 'RUNNING') AS overdue_since
FROM (
  (SELECT s.id, s.created_at, false AS is_end FROM looked s ${run} WHERE ${conditions.text} LIMIT ${limit + 1})
  UNION ALL
  (SELECT id, created_at, true FROM looked OFFSET ${fill - 1} LIMIT 1)
  LIMIT ${limit + 1}
) f
LEFT JOIN LATERAL (SELECT * FROM model_runs WHERE id = f.id LIMIT 1) run ON true`
  return { text, values: values.list }
}
