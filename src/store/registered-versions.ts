/** The registered versions of models, for workers that offer them by name. */

import type pg from 'pg'
import type { OfferedVersion } from './ports/remote.ts'

const VERSIONS = `
SELECT name AS model, version, definition->>'queue' AS queue, (definition->>'concurrency')::int AS concurrency
FROM models WHERE name = ANY ($1::text[]) ORDER BY name, version`

export async function registeredVersions(pool: pg.Pool, models: string[]): Promise<OfferedVersion[]> {
  const { rows } = await pool.query<OfferedVersion>({ name: 'registered_versions', text: VERSIONS, values: [models] })
  return rows
}
