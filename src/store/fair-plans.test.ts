/** What a fair claim, a submit's listing and the look for missing owners read does not grow with the runs that wait. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { type Explained, openExplainingPool, rowsRead } from '../../test/support/explain.ts'
import { fillFair } from '../../test/support/fill-fair.ts'
import { createFairClaim } from './claim-fair.ts'
import { createListMissing, listOwners, readFairQueues } from './fair-owners.ts'

const OWNERS = Array.from({ length: 500 }, (_, no) => `owner-${no}`)
const RUNS_EACH = 60
const SLOTS = 50
/** Nobody offers it. */
const OTHER = 'other'
const BIG = ['model_runs', 'fair_owners', 'lanes', 'run_attempts', 'run_events']

describe.each(['empty', 'full'])('plans made on %s tables', (tables) => {
  let database: TestDatabase
  let verbs: Record<string, Explained[]>

  beforeAll(async () => {
    database = await createTestDatabase()
    const fill = async () => {
      await fillFair(database, { queue: 'fair', owners: OWNERS, runsEach: RUNS_EACH })
      await fillFair(database, { queue: 'fair', owners: OWNERS, runsEach: 1, model: OTHER })
      await database.query('VACUUM (ANALYZE)')
    }
    if (tables === 'full') await fill()
    const pool = await openExplainingPool({ url: database.url, name: 'hot', pinPlans: true })
    const request = { workerId: 'worker-1', leaseMs: 60_000, slots: SLOTS, queues: [{ queue: 'fair', room: null }] }
    const models = [{ model: 'forecast', version: '1', room: null }]
    const claim = () => createFairClaim(pool).claim({ ...request, models }, request.queues[0]!)
    const use = async (work: Promise<unknown>) => {
      await work
      return pool.take()
    }
    const waiting = OWNERS.slice(0, SLOTS).map((owner) => ({
      queue: 'fair',
      owner,
      model: 'forecast',
      modelVersion: '1',
    }))
    verbs = {
      claim: await use(claim()),
      list: await use(listOwners(pool, waiting)),
      'list missing': await use(createListMissing(pool)()),
      read: await use(readFairQueues(pool)),
    }
    await pool.close()
  }, 120_000)
  afterAll(() => database.drop())

  it.each(['claim', 'list', 'list missing', 'read'])('%s finds its rows by index', (verb) => {
    expect(verbs[verb]).not.toEqual([])
    for (const { nodes, text } of verbs[verb]!) {
      const scans = nodes.filter(
        (node) => BIG.includes(node['Relation Name'] ?? '') && node['Node Type'].includes('Scan'),
      )
      for (const scan of scans) expect(scan['Node Type'], text).toMatch(/^(Index (Only )?|Tid )Scan$/)
    }
  })

  if (tables === 'empty') return

  it('a claim reads a few rows for each slot, of the runs and of the owners', () => {
    expect(verbs.claim).toHaveLength(1)
    // Of the runs: up to three that are peeked at for each of a few more owners than slots, one that is locked and one that is written.
    for (const table of ['model_runs', 'fair_owners', 'lanes'])
      expect(rowsRead(verbs.claim![0]!, table) / SLOTS, table).toBeLessThanOrEqual(6)
    expect(verbs.claim![0]!.blocks / SLOTS).toBeLessThan(140)
  })

  it('the look for missing owners reads one run of each lane, of five hundred lanes', () => {
    expect(rowsRead(verbs['list missing']![0]!, 'model_runs')).toBeLessThanOrEqual(501)
  })

  it('listing owners and reading which queues are fair reads a row or two for each', () => {
    expect(rowsRead(verbs.list![0]!, 'fair_owners') / SLOTS).toBeLessThanOrEqual(4)
    expect(rowsRead(verbs.read![0]!, 'model_runs')).toBeLessThanOrEqual(1)
  })

  it('no statement fires a trigger but the one of facts', () => {
    const fired = Object.values(verbs).flatMap((sent) => sent.flatMap(({ triggers }) => triggers))
    expect(fired.filter((trigger) => trigger !== 'events_announced')).toEqual([])
  })
})
