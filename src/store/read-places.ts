/** The places that the result of a run names. There are at most a few hundred, so they come in one answer. */

import type pg from 'pg'
import { PLACES_MAX, type Place } from '../run/facets.ts'

const READ_PLACES = `
SELECT latitude, longitude, label, file_id AS "fileId" FROM run_places WHERE run_id = $1 ORDER BY no LIMIT ${PLACES_MAX}`

export async function readPlaces(pool: pg.Pool, runId: string): Promise<Place[]> {
  return (await pool.query<Place>(READ_PLACES, [runId])).rows
}
