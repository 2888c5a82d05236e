/**
 * No page of a list and no group of failures reads history: every statement of a search finds its rows by index, and looks at
 * no more than its fill, on tables that are empty and on full ones.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillList } from '../../bench/fill-list.ts'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { type Explained, type ExplainingPool, openExplainingPool, rowsRead } from '../../test/support/explain.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { groupFailures } from './group-failures.ts'
import { EVERY_RUN, type Match, type RunFilter } from './ports/search.ts'
import { searchRuns } from './search-runs.ts'

const TABLES = ['model_runs', 'run_search', 'run_tags', 'run_facets', 'run_places', 'run_overdue']
const RUNS = 20_000
const LIMITS = { lookedAt: 500, glance: 100, textMatches: 200 }

const is = <Value extends string>(...values: Value[]): Match<Value> => ({ is: values, not: [] })
const not = <Value extends string>(...values: Value[]): Match<Value> => ({ is: null, not: values })

const ASKED: Record<string, Partial<RunFilter>> = {
  everything: {},
  'one status': { status: is('SUCCEEDED') },
  'several statuses': { status: not('SUCCEEDED') },
  'a common owner': { owner: is('owner-big') },
  'a rare owner': { owner: is('rare-owner') },
  'several models': { model: is('model-1', 'model-2', 'rare-model') },
  'a version': { modelVersion: is('2') },
  'a tag': { tag: is('common-tag') },
  'several tags': { tag: is('common-tag', 'rare-tag', 'tag-1') },
  'a batch': { batchId: is('00000000-0000-4000-8000-000000000001') },
  'an error class': { errorClass: is('Timeout') },
  'no error class': { errorClass: not('Timeout') },
  'a time': { createdAfter: '2020-01-01T00:00:00Z', createdBefore: '2020-01-02T00:00:00Z' },
  'a rare text': { text: 'rare title' },
  'a common text': { text: 'nightly' },
  'an id': { text: '0190' },
  'two that never meet': { owner: is('owner-big'), queue: is('queue-other') },
  'a common queue and a status': { queue: is('default'), status: is('FAILED') },
  'a common tag and an error': { tag: is('common-tag'), errorClass: is('Timeout') },
  'nothing common': { queue: not('default', 'queue-other') },
  'a common owner and no text': { owner: is('owner-big'), notText: 'nightly' },
  'a common facet': { facet: is('language:en') },
  'a rare facet': { facet: is('language:is') },
  'several facets': { facet: is('language:en', 'language:fr', 'term:t7') },
  'a common facet and an owner': { facet: is('language:en'), owner: is('rare-owner') },
  'an owner without a facet': { owner: is('owner-big'), facet: not('language:en') },
  'a small area': { areas: [{ circle: { latitude: 48.85, longitude: 2.35, km: 50 } }] },
  'the whole earth': { areas: [{ box: { south: -90, west: -180, north: 90, east: 180 } }] },
  'an area across 180 degrees': { areas: [{ box: { south: -5, west: 170, north: 5, east: -170 } }] },
  'two areas and a status': {
    areas: [{ circle: { latitude: 0, longitude: 0, km: 4_000 } }, { box: { south: 0, west: 0, north: 1, east: 1 } }],
    status: is('SUCCEEDED'),
  },
  overdue: { overdue: true },
  'not overdue': { overdue: false },
}

/** Successes have a language, nearly always the same, a term and a place anywhere; every second run that runs is overdue. */
const FOUND = [
  `INSERT INTO run_facets (run_id, name, value, created_at)
   SELECT id, 'language', CASE WHEN seed % 1000 = 0 THEN 'is' WHEN seed % 20 = 0 THEN 'fr' ELSE 'en' END, created_at
   FROM model_runs WHERE status = 'SUCCEEDED'
   UNION ALL SELECT id, 'term', 't' || seed % 50, created_at FROM model_runs WHERE status = 'SUCCEEDED'`,
  `INSERT INTO run_places (run_id, no, latitude, longitude, created_at)
   SELECT id, 1, seed * 7919 % 180 - 90 + 0.5, seed * 104729 % 360 - 180 + 0.5, created_at FROM model_runs WHERE status = 'SUCCEEDED'`,
  `INSERT INTO run_overdue (run_id, attempt, since) SELECT id, attempt_count, created_at FROM model_runs
   WHERE status = 'RUNNING' AND seed % 2 = 0`,
  'VACUUM ANALYZE run_facets',
  'VACUUM ANALYZE run_places',
  'VACUUM ANALYZE run_overdue',
]

describe.each(postgresVersions)('plans of searches on Postgres %s', (server) => {
  describe.each(['empty', 'full'])('on %s tables', (tables) => {
    let database: TestDatabase
    let pool: ExplainingPool
    beforeAll(async () => {
      database = await createTestDatabase({ server })
      if (tables === 'full') {
        await fillList(database.url, RUNS)
        for (const statement of FOUND) await database.query(statement)
      }
      pool = await openExplainingPool({ url: database.url, name: 'search', pinPlans: true })
    }, 120_000)
    afterAll(async () => {
      await pool.close()
      await database.drop()
    })

    function expectIndexes(statements: Explained[]): void {
      expect(statements).not.toEqual([])
      for (const { nodes, text } of statements) {
        const scans = nodes.filter(
          (node) => TABLES.includes(node['Relation Name'] ?? '') && node['Node Type'].includes('Scan'),
        )
        for (const scan of scans) expect(scan['Node Type'], text).toMatch(/^Index (Only )?Scan$/)
      }
    }

    it.each(Object.keys(ASKED))('%s is found by index, within the fill', async (name) => {
      for (const order of ['created_at_desc', 'created_at_asc'] as const)
        await searchRuns(pool, { ...EVERY_RUN, ...ASKED[name] }, { limit: 50, cursor: null, order }, LIMITS)
      const statements = pool.take()
      expectIndexes(statements)
      // Twice the fill where each run is looked up as well, and a few runs of each stream before the first is known.
      for (const statement of statements)
        for (const table of TABLES) expect(rowsRead(statement, table), `${table} ${statement.text}`).toBeLessThan(1_300)
    })

    it('failures are grouped by index, within what may be counted', async () => {
      await groupFailures(pool, { model: null, sees: 'owner-big', limit: 5, cursor: null }, 50)
      const statements = pool.take()
      expectIndexes(statements)
      for (const statement of statements) expect(rowsRead(statement, 'model_runs')).toBeLessThan(6 * 55)
    })
  })
})
