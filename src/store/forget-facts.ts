/**
 * Forgetting what was told long ago: facts that were spread and deliveries that have ended, in whatever way, a batch at
 * a time.
 */

import type pg from 'pg'

const BATCH = 2_000

const FORGET_FACTS = `
DELETE FROM outbox WHERE id = ANY (ARRAY(
  SELECT id FROM outbox WHERE spread_at < clock() - $1 * interval '1 day'
  ORDER BY spread_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`

// By state and age, so that what still waits for a receiver that is switched off is not walked over each time.
const FORGET_DELIVERIES = `
DELETE FROM deliveries WHERE id = ANY (ARRAY(
  SELECT id FROM deliveries WHERE state = $2 AND created_at < clock() - $1 * interval '1 day'
    AND finished_at < clock() - $1 * interval '1 day'
  ORDER BY created_at, id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`

/** True while there may be more. */
export async function forgetFacts(pool: pg.Pool, olderThanDays: number): Promise<boolean> {
  const counts = [(await pool.query(FORGET_FACTS, [olderThanDays])).rowCount]
  for (const state of ['DELIVERED', 'DEAD', 'DROPPED'])
    counts.push((await pool.query(FORGET_DELIVERIES, [olderThanDays, state])).rowCount)
  return counts.some((count) => count === BATCH)
}
