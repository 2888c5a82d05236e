/**
 * What holds the places of a limit: active runs and reservations, a few of them, the oldest of an owner. Who may see those of all owners is
 * told any that count.
 */

import type pg from 'pg'
import { HOLDERS_MAX } from '../run/runs-per-key.ts'

const IS_ACTIVE = `h.is_active AND (SELECT r.finished_at IS NULL FROM model_runs r WHERE r.id = h.run_id)`
const IS_RESERVED = `v.state = 'ACTIVE' AND v.expires_at > clock()`

// Of everyone, in the order of an index over what is active, so that no history is walked.
const READ_HOLDERS = `
SELECT w.no, ARRAY(
  (SELECT h.run_id::text FROM quota_holds h
    WHERE h.owner = w.owner AND (w.model IS NULL OR h.model = w.model) AND ${IS_ACTIVE} ORDER BY h.run_id LIMIT ${HOLDERS_MAX})
  UNION ALL
  (SELECT h.run_id::text FROM quota_holds h
    WHERE w.owner IS NULL AND w.model IS NULL AND ${IS_ACTIVE} ORDER BY h.owner, h.model, h.run_id LIMIT ${HOLDERS_MAX})
  UNION ALL
  (SELECT h.run_id::text FROM quota_holds h
    WHERE w.owner IS NULL AND h.model || '' = w.model AND ${IS_ACTIVE} ORDER BY h.model || '', h.run_id LIMIT ${HOLDERS_MAX})
  UNION ALL
  (SELECT v.reservation_id::text FROM quota_reservations v
    WHERE v.owner = w.owner AND (w.model IS NULL OR v.model = w.model) AND ${IS_RESERVED} ORDER BY v.created_at LIMIT ${HOLDERS_MAX})
  UNION ALL
  (SELECT v.reservation_id::text FROM quota_reservations v
    WHERE w.owner IS NULL AND (w.model IS NULL OR v.model = w.model) AND ${IS_RESERVED} ORDER BY v.expires_at LIMIT ${HOLDERS_MAX})
  LIMIT ${HOLDERS_MAX}) AS ids
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w(owner, model, no)`

/** `owner`: whose, null for everyone's. */
export type Asked = { owner: string | null; model: string | null }

/** Whose holders are told of a limit that counts this: all that count where who asks may see all, those of the run's owner elsewhere. */
export function askedHolders(
  run: { owner: string; seesAll?: true },
  counted: { owner: string | null; model: string | null },
): Asked {
  return { owner: run.seesAll ? counted.owner : run.owner, model: counted.model }
}

/** In the order of what is asked; those who ask the same are answered by one look. */
export async function holdersOf(db: pg.Pool, asked: readonly Asked[]): Promise<string[][]> {
  const name = ({ owner, model }: Asked) => JSON.stringify([owner, model])
  const distinct = new Map(asked.map((one) => [name(one), one]))
  const values = [[...distinct.values()].map(({ owner }) => owner), [...distinct.values()].map(({ model }) => model)]
  const { rows } = await db.query<{ no: number; ids: string[] }>(READ_HOLDERS, values)
  const places = new Map([...distinct.keys()].map((key, index) => [key, index + 1]))
  const byNo = new Map(rows.map(({ no, ids }) => [no, ids]))
  return asked.map((one) => byNo.get(places.get(name(one))!) ?? [])
}
