/**
 * Holds of runs that have ended are taken out of what is counted, and deleted when no window reaches back to them. Both only keep counting
 * cheap. A look goes through a part of the active holds and the next one goes on from there, so that it costs the same however many there are.
 */

import type pg from 'pg'

// A run that is not there any more has ended, too.
const END = `
WITH page AS MATERIALIZED (
  SELECT owner, model, run_id FROM quota_holds
  WHERE is_active AND (owner, model, run_id) > ($1::text, $2::text, $3::uuid) ORDER BY owner, model, run_id LIMIT $4
), ended AS MATERIALIZED (
  SELECT h.run_id FROM page p JOIN quota_holds h ON h.run_id = p.run_id
  WHERE (SELECT r.finished_at IS NULL FROM model_runs r WHERE r.id = p.run_id) IS NOT TRUE
  ORDER BY h.run_id FOR UPDATE OF h SKIP LOCKED
), taken AS (
  UPDATE quota_holds h SET is_active = false FROM ended e WHERE h.run_id = e.run_id RETURNING h.run_id
)
SELECT (SELECT count(*) FROM page) AS looked, (SELECT count(*) FROM taken) AS ended, last.owner, last.model, last.run_id
FROM (SELECT) AS always LEFT JOIN (SELECT * FROM page ORDER BY owner DESC, model DESC, run_id DESC LIMIT 1) AS last ON true`

/** Longer than the longest window. */
const FORGET = `
DELETE FROM quota_holds WHERE run_id IN (
  SELECT run_id FROM quota_holds WHERE created_at < clock() - interval '25 hours' AND NOT is_active ORDER BY created_at LIMIT $1)`

type Look = { looked: number; ended: number; owner: string | null; model: string | null; run_id: string | null }

const START = ['', '', '00000000-0000-0000-0000-000000000000']

/** Answers whether there may be more to do at once. */
export function createTidyHolds(pool: pg.Pool): (limit: number) => Promise<boolean> {
  let after = START
  return async (limit) => {
    const { rows } = await pool.query<Look>({ name: 'end_holds', text: END, values: [...after, limit] })
    const { looked, ended, owner, model, run_id: runId } = rows[0]!
    const isFull = looked === limit
    after = isFull ? [owner!, model!, runId!] : START
    const forgotten = await pool.query({ name: 'forget_holds', text: FORGET, values: [limit] })
    return (isFull && ended > limit / 4) || forgotten.rowCount === limit
  }
}
