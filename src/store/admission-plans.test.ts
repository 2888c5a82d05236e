/** What admission, reservations and concurrency keys read does not grow with the runs and reservations that have ended, nor with those of others. */

import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Explained, openExplainingPool, rowsRead } from '../../test/support/explain.ts'
import { fillFair } from '../../test/support/fill-fair.ts'
import { newRun } from '../../test/support/new-run.ts'
import { putRule } from '../../test/support/quotas.ts'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import { ADMISSION_PARTS } from './admission-parts.ts'
import { createAdmission } from './admit.ts'
import { ALONE_PATIENCE } from './admit-batch.ts'
import { holdersOf } from './holders.ts'
import { readKeyUse } from './key-places.ts'
import { createLanes } from './lanes.ts'
import { cancelOlderAll, promoteAfter, promoteDue, promoteKeys } from './promote-keys.ts'
import { readBlocks, readStoppedFor } from './read-blocks.ts'
import { createReservations } from './reservations.ts'
import { writeReservation } from './reserve.ts'
import type { NewRun } from './store.ts'
import { createTidyHolds } from './tidy-holds.ts'

const OWNER = 'o1'
const MODEL = 'forecast'
const OTHERS = Array.from({ length: 50 }, (_, no) => `other-${no}`)
const ENDED = 20_000
const LIVE = 500
/** Far exceeded, so every count goes as far as it may; a warning lets the run in. */
const LIMITS = { max_concurrent: 5, runs_per_hour: 10, runs_per_day: 20, action: 'warn' as const }
const COUNTED_MAX = 4 * (6 + 11 + 21)
const BIG = ['model_runs', 'quota_holds', 'quota_reservations', 'concurrency_holds', 'run_blocks', 'cost_ledger']
const PAGE = 100
/** Verbs on connections on which Postgres chooses. */
const READS = ['release', 'list', 'tidy reservations']

/** Ended ones of the owner itself and of others, of today and of weeks ago, as far as they are kept; and what is alive of others. */
async function fill({ database }: TestStore): Promise<void> {
  await fillFair(database, { queue: 'default', owners: OTHERS, runsEach: LIVE / OTHERS.length, model: MODEL })
  await database.query(
    `INSERT INTO quota_holds (run_id, owner, model, created_at, is_active)
     SELECT gen_random_uuid(), CASE WHEN i % 2 = 0 THEN '${OWNER}' ELSE 'other-' || i % 50 END, '${MODEL}', clock() - i * interval '4 seconds', false
     FROM generate_series(1, ${ENDED}) AS i`,
  )
  await database.query(
    'INSERT INTO quota_holds (run_id, owner, model, created_at) SELECT id, owner, model, created_at FROM model_runs ON CONFLICT DO NOTHING',
  )
  await database.query(
    `INSERT INTO quota_reservations (reservation_id, owner, model, state, created_at, expires_at, ended_at, run_id)
     SELECT gen_random_uuid(), CASE WHEN i % 2 = 0 THEN '${OWNER}' ELSE 'other-' || i % 50 END, CASE WHEN i % 3 = 0 THEN '${MODEL}' END, s.state,
       clock() - i * interval '20 seconds', clock() - i * interval '20 seconds' + interval '5 minutes', clock() - i * interval '20 seconds',
       CASE WHEN s.state = 'CONSUMED' THEN gen_random_uuid() END
     FROM generate_series(1, ${ENDED}) AS i, LATERAL (SELECT (ARRAY['CONSUMED', 'RELEASED', 'EXPIRED'])[i % 3 + 1] AS state) AS s`,
  )
  await database.query(
    `INSERT INTO concurrency_holds (run_id, owner, key, max_runs, mode, state, priority, arrived_at)
     SELECT id, owner, 'k' || seed, 1, 'queue', 'held', 0, clock() FROM model_runs WHERE owner LIKE 'other-%'`,
  )
  await database.query(
    `INSERT INTO concurrency_holds (run_id, owner, key, max_runs, mode, state, priority, arrived_at)
     SELECT gen_random_uuid(), 'other', 'k' || i % 100, 1, 'queue', CASE WHEN i % 2 = 0 THEN 'waiting' ELSE 'scheduled' END, 0,
       clock() + interval '1 day' FROM generate_series(1, 5000) AS i`,
  )
  await database.query('VACUUM (ANALYZE)')
}

async function explainAll(t: TestStore): Promise<Record<string, Explained[]>> {
  const admission = createAdmission(ADMISSION_PARTS)
  const lanes = createLanes()
  const pinned = await openExplainingPool({ url: t.database.url, name: 'pinned', pinPlans: true })
  const reads = await openExplainingPool({ url: t.database.url, name: 'reads' })
  // Each statement is a transaction of its own here.
  const client = pinned as unknown as pg.ClientBase
  const use = async (pool: typeof pinned, work: () => Promise<unknown>) => {
    pool.take()
    await work()
    return pool.take()
  }
  async function submit(changes: Partial<NewRun>): Promise<NewRun> {
    const run = newRun({ owner: OWNER, model: MODEL, ...changes })
    await lanes.ensure(t.database.pool, [run])
    const begun = await admission.begin(client, [run], ALONE_PATIENCE)
    const outcome = await admission.admit(client, [run], begun, lanes.of)
    expect(outcome?.created.size).toBe(1)
    return run
  }
  const wanted = () => ({ id: randomUUID(), owner: OWNER, model: MODEL, ttlSeconds: 300, cost: null })
  const [used, released] = [wanted(), wanted()]
  const verbs = createReservations({ reads, singles: pinned, admission }, (asked) => asked)
  const concurrency = { owner: OWNER, key: 'one', limit: 1, mode: 'queue' } as const
  const cost = { estimate: 2, ratePerSecond: null, onFailure: 'actual', onCancel: 'actual', currency: null } as const
  const filter = { owner: null, state: null, limit: PAGE, cursor: null }
  let second: NewRun | undefined
  const explained = {
    reserve: await use(pinned, () => writeReservation(client, used, admission)),
    submit: await use(pinned, () => submit({ reservationId: used.id, cost, concurrency })),
    'wait in line': await use(pinned, async () => {
      second = await submit({ concurrency })
    }),
    'look at a key': await use(pinned, () => readKeyUse(client, [{ ...concurrency, seer: OWNER }])),
    'why it waits': await use(pinned, () => readBlocks(pinned, [second!.id], null)),
    'who was stopped for it': await use(pinned, () => readStoppedFor(pinned, [second!.id])),
    replace: await use(pinned, () => {
      const replacing = { ...concurrency, runId: second!.id }
      return cancelOlderAll(client, [replacing, replacing])
    }),
    promote: await use(pinned, () => promoteKeys(client, [concurrency])),
    'keys of ended runs': await use(pinned, () => promoteAfter(pinned, [second!.id])),
    'due keys': await use(pinned, () => promoteDue(pinned, PAGE)),
    holders: await use(pinned, async () => {
      for (const owner of [OWNER, null]) for (const model of [null, MODEL]) await holdersOf(pinned, [{ owner, model }])
    }),
    'tidy holds': await use(pinned, () => createTidyHolds(pinned)(PAGE)),
    release: await use(reads, async () => {
      await t.store.reservations.reserve(released)
      await verbs.release(released.id, OWNER)
    }),
    list: await use(reads, async () => {
      await verbs.list({ ...filter, owner: OWNER })
      await verbs.list(filter)
      await verbs.list({ ...filter, owner: OTHERS[1]! })
      await verbs.list({ ...filter, state: 'ACTIVE' })
    }),
    'tidy reservations': await use(reads, () => verbs.tidy(PAGE)),
  }
  await pinned.close()
  await reads.close()
  return explained
}

/** Rows read in all that a verb sends. Statements without a name are planned for their values, each time. */
function mostRead(verb: string, sent: readonly Explained[], table: string): number {
  const mode = READS.includes(verb) ? 'force_custom_plan' : 'force_generic_plan'
  return sent.filter((one) => one.mode === mode).reduce((sum, one) => sum + rowsRead(one, table), 0)
}

describe.each(['empty', 'full'])('plans made on %s tables', (tables) => {
  let t: TestStore
  let verbs: Record<string, Explained[]>
  beforeAll(async () => {
    t = await openTestStore('18')
    for (const owner of [OWNER, '*'])
      for (const model of ['', MODEL]) await putRule(t.store, { owner, model, together: owner === '*', ...LIMITS })
    if (tables === 'full') await fill(t)
    verbs = await explainAll(t)
  }, 60_000)
  afterAll(() => t.close())

  it('on connections whose plans are kept, every row is found by index', () => {
    const kept = Object.keys(verbs).filter((verb) => !READS.includes(verb))
    for (const verb of kept) {
      expect(verbs[verb], verb).not.toEqual([])
      for (const { nodes, text } of verbs[verb]!) {
        const scans = nodes.filter(
          (node) => BIG.includes(node['Relation Name'] ?? '') && node['Node Type'].includes('Scan'),
        )
        for (const scan of scans) expect(scan['Node Type'], text).toMatch(/^(Index (Only )?|Tid )Scan$/)
      }
    }
  })

  if (tables === 'empty') return

  it.each([
    // Each of four rules is counted a little beyond its limits, whoever has how many.
    ['reserve', { quota_holds: COUNTED_MAX, quota_reservations: 10, model_runs: COUNTED_MAX }],
    ['submit', { quota_holds: COUNTED_MAX, quota_reservations: 20, concurrency_holds: 10, model_runs: COUNTED_MAX }],
    ['wait in line', { quota_holds: COUNTED_MAX, concurrency_holds: 20, run_blocks: 5, model_runs: COUNTED_MAX }],
    ['look at a key', { concurrency_holds: 4, model_runs: 6 }],
    ['why it waits', { concurrency_holds: 6, run_blocks: 2, model_runs: 6 }],
    ['who was stopped for it', { concurrency_holds: 6, model_runs: 6 }],
    ['replace', { concurrency_holds: 20, model_runs: 20 }],
    ['promote', { concurrency_holds: 20, run_blocks: 5, model_runs: 20 }],
    ['keys of ended runs', { concurrency_holds: 2, model_runs: 2 }],
    // Of all who have a place of a key now: whether they have ended.
    ['due keys', { concurrency_holds: LIVE + 10, model_runs: LIVE + 10 }],
    ['holders', { quota_holds: 4 * 12, quota_reservations: 4 * 4, model_runs: 4 * 12 }],
    ['tidy holds', { quota_holds: 4 * PAGE, model_runs: 2 * PAGE }],
    ['release', { quota_reservations: 2 }],
    ['list', { quota_reservations: 4 * (PAGE + 1) }],
    ['tidy reservations', { quota_reservations: 6 * PAGE }],
  ])('%s reads no more than it needs', (verb, most: Record<string, number>) => {
    for (const [table, rows] of Object.entries(most))
      expect(mostRead(verb, verbs[verb]!, table), table).toBeLessThanOrEqual(rows)
  })
})
