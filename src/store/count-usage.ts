/**
 * What is used of a quota, counted from live rows: runs that have not ended, reservations that hold a place, runs created within a window.
 *
 * Each thing that is counted has an index of its own, and no count goes on beyond what it takes to decide. Whether a run has ended is asked of
 * the run; `is_active` only leaves out those that were seen to have ended.
 */

import type pg from 'pg'
import type { Counted } from '../run/quota.ts'

/** How far each is counted: 0 for not at all, null for to the end. */
export type CountMax = { active: number | null; hour: number | null; day: number | null }

export type Wanted = Counted & CountMax

export type Counts = { active: number; hour: number; day: number; reservations: number }

/** A statement for each kind of thing that is counted, since a condition that may be absent finds no index. */
const KINDS = {
  owner: 'h.owner = c.owner',
  owner_model: 'h.owner = c.owner AND h.model = c.model',
  model: "(h.model || '') = c.model",
  all: 'true',
} as const

const countKind = (kind: string, isCounted: string) => `
SELECT c.no, active.runs AS active, hour.runs AS hour, day.runs AS day, reserved.places AS reservations
FROM counted c
CROSS JOIN LATERAL (SELECT count(*) AS runs FROM (
  SELECT FROM quota_holds h
  WHERE ${isCounted} AND h.is_active AND (SELECT r.finished_at IS NULL FROM model_runs r WHERE r.id = h.run_id)
  LIMIT c.active_max) AS found) AS active
CROSS JOIN LATERAL (SELECT count(*) AS runs FROM (
  SELECT FROM quota_holds h WHERE ${isCounted} AND h.created_at > clock() - interval '1 hour' LIMIT c.hour_max) AS found) AS hour
CROSS JOIN LATERAL (SELECT count(*) AS runs FROM (
  SELECT FROM quota_holds h WHERE ${isCounted} AND h.created_at > clock() - interval '24 hours' LIMIT c.day_max) AS found) AS day
CROSS JOIN LATERAL (
  SELECT count(*) AS places FROM quota_reservations h
  WHERE ${isCounted} AND h.state = 'ACTIVE' AND h.expires_at > clock()) AS reserved
WHERE c.kind = '${kind}'`

export const COUNT_USAGE = `
WITH counted AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
    WITH ORDINALITY AS c(kind, owner, model, active_max, hour_max, day_max, no)
)${Object.entries(KINDS)
  .map(([kind, isCounted]) => countKind(kind, isCounted))
  .join('\nUNION ALL')}`

type CountRow = Counts & { no: number }

/** In the order of what is wanted. */
export async function countUsage(db: Pick<pg.ClientBase, 'query'>, wanted: readonly Wanted[]): Promise<Counts[]> {
  if (wanted.length === 0) return []
  const values = [
    wanted.map(kindOf),
    wanted.map(({ owner }) => owner),
    wanted.map(({ model }) => model),
    wanted.map(({ active }) => active),
    wanted.map(({ hour }) => hour),
    wanted.map(({ day }) => day),
  ]
  const { rows } = await db.query<CountRow>({ name: 'count_usage', text: COUNT_USAGE, values })
  const byNo = new Map(rows.map((row) => [row.no, row]))
  return wanted.map((_, index) => byNo.get(index + 1)!)
}

function kindOf({ owner, model }: Counted): keyof typeof KINDS {
  if (owner === null) return model === null ? 'all' : 'model'
  return model === null ? 'owner' : 'owner_model'
}
