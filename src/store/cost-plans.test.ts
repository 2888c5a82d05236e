/** What admission and the janitor read stays small, however long the ledger and its days have become. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExplainingPool, openExplainingPool } from '../../test/support/explain.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import { closeEnded } from './close-costs.ts'
import { readCosts } from './read-costs.ts'
import { rollCosts } from './roll-costs.ts'

describe.each(postgresVersions)('plans of costs on Postgres %s', (server) => {
  let t: TestStore
  let pool: ExplainingPool
  beforeAll(async () => {
    t = await openTestStore(server)
    await t.database.query(
      `INSERT INTO cost_ledger (run_id, owner, model, held, on_failure, on_cancel, settled, state, created_at, closed_at, day, rolled)
       SELECT gen_random_uuid(), 'o' || i % 50, 'm', 1, 'actual', 'actual', 1, 'SETTLED', clock(), clock(), current_date - i % 60, true
       FROM generate_series(1, 30000) AS i`,
    )
    await t.database.query(
      `INSERT INTO cost_days (owner, model, day, amount)
       SELECT o, m, current_date - d, 1 FROM generate_series(0, 200) AS d, unnest(ARRAY['', 'o1', 'o2', 'o3']) AS o, unnest(ARRAY['', 'm']) AS m`,
    )
    await t.database.query(
      `INSERT INTO cost_ledger (run_id, owner, model, held, on_failure, on_cancel, created_at)
       SELECT gen_random_uuid(), 'o' || i % 50, 'm', 1, 'actual', 'actual', clock() FROM generate_series(1, 500) AS i`,
    )
    await t.database.query('VACUUM ANALYZE cost_ledger')
    await t.database.query('ANALYZE cost_days')
    pool = await openExplainingPool({ url: t.database.url, name: 'plans', pinPlans: true })
  })
  afterAll(async () => {
    await pool.close()
    await t.close()
  })

  /** Blocks looked at, each as often as it was; none by reading a whole table. */
  const blocksOf = async (work: () => Promise<unknown>) => {
    pool.take()
    await work()
    const explained = pool.take()
    const scans = explained.flatMap(({ nodes }) => nodes.filter((node) => node['Node Type'] === 'Seq Scan'))
    expect(scans.filter((node) => node['Relation Name']?.startsWith('cost_'))).toEqual([])
    return Math.max(...explained.map(({ blocks }) => blocks))
  }

  it('a submit of one owner reads its open rows and one month', async () => {
    const scopes = [
      { owner: 'o1', model: null },
      { owner: 'o1', model: 'm' },
    ]
    expect(await blocksOf(() => readCosts(pool, scopes))).toBeLessThan(80)
  })

  it('a limit for everyone reads all open rows, and one month', async () => {
    expect(await blocksOf(() => readCosts(pool, [{ owner: null, model: null }]))).toBeLessThan(700)
  })

  it('a janitor finds nothing to roll without reading', async () => {
    expect(await blocksOf(() => rollCosts(pool, 100))).toBeLessThan(10)
  })

  it('a janitor looks at what is held and nothing else', async () => {
    expect(await blocksOf(() => closeEnded(pool, 100))).toBeLessThan(4_000)
  })
})
