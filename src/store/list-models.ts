/** The registered models with their versions, and which of them live workers offer. */

import type pg from 'pg'
import type { ModelDefinition } from '../run/definition.ts'
import { nameOfCursor, pageOf } from './name-cursor.ts'
import type { ModelEntry, ModelVersion, PageAsked, PageOf } from './ports/directory.ts'
import { IS_LIVE } from './waiting.ts'

const VERSIONS_MAX = 200

const VERSIONS = (which: string) => `
WITH page AS (${which}), live AS (
  SELECT m AS offer, count(*)::int AS workers FROM workers w CROSS JOIN unnest(w.models) AS m WHERE ${IS_LIVE} GROUP BY m
)
SELECT v.name, v.version, v.registered_at, COALESCE(live.workers, 0) AS live_workers
FROM page CROSS JOIN LATERAL (
  SELECT name, version, registered_at FROM models m WHERE m.name = page.name ORDER BY registered_at DESC LIMIT ${VERSIONS_MAX}
) v
LEFT JOIN live ON live.offer = v.name || '@' || v.version
ORDER BY v.name`

const VERSIONS_OF_PAGE = VERSIONS('SELECT DISTINCT name FROM models WHERE name > $1 ORDER BY name LIMIT $2')
const VERSIONS_OF_ONE = VERSIONS('SELECT $1::text AS name')

const DEFINITIONS = `
SELECT m.name, m.version, m.definition, m.registered_at FROM unnest($1::text[], $2::text[]) AS asked(name, version)
JOIN models m ON m.name = asked.name AND m.version = asked.version`

/** Of versions registered together, 10 comes after 9. */
const versionOrder = new Intl.Collator('en', { numeric: true })

type VersionRow = { name: string; version: string; registered_at: Date; live_workers: number }

export async function listModels(pool: pg.Pool, { limit, cursor }: PageAsked): Promise<PageOf<ModelEntry>> {
  const { rows } = await pool.query<VersionRow>(VERSIONS_OF_PAGE, [nameOfCursor(cursor), limit + 1])
  const { items, nextCursor } = pageOf([...versionsByName(rows)], limit, ([name]) => name)
  return { items: await withDefinitions(pool, items, null), nextCursor }
}

export async function readModel(pool: pg.Pool, name: string, version: string | null): Promise<ModelEntry | null> {
  const { rows } = await pool.query<VersionRow>(VERSIONS_OF_ONE, [name])
  return (await withDefinitions(pool, [...versionsByName(rows)], version))[0] ?? null
}

/** The newest first. */
function versionsByName(rows: VersionRow[]): Map<string, ModelVersion[]> {
  const byName = new Map<string, ModelVersion[]>()
  for (const { name, version, registered_at: registeredAt, live_workers: liveWorkers } of rows) {
    const versions = byName.get(name) ?? []
    versions.push({ version, registeredAt, liveWorkers })
    byName.set(name, versions)
  }
  for (const versions of byName.values()) {
    versions.sort(
      (a, b) => b.registeredAt.getTime() - a.registeredAt.getTime() || versionOrder.compare(b.version, a.version),
    )
  }
  return byName
}

async function withDefinitions(
  pool: pg.Pool,
  models: [name: string, versions: ModelVersion[]][],
  asked: string | null,
): Promise<ModelEntry[]> {
  const { rows } = await pool.query<{
    name: string
    version: string
    definition: ModelDefinition
    registered_at: Date
  }>(DEFINITIONS, [models.map(([name]) => name), models.map(([, versions]) => asked ?? versions[0]!.version)])
  const found = new Map(rows.map((row) => [row.name, row]))
  return models.flatMap(([name, versions]) => {
    const row = found.get(name)
    if (!row) return []
    const old = { version: row.version, registeredAt: row.registered_at, liveWorkers: 0 }
    const shown = versions.find(({ version }) => version === row.version) ?? old
    return [{ name, definition: row.definition, shown, versions }]
  })
}
