/** What spreading and the trigger read stays small, however much was told before and however many others listen. */

import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Explained, type ExplainingPool, openExplainingPool, rowsRead } from '../../test/support/explain.ts'
import { addDocuments, deliveriesTo, hearOf, mailTo } from '../../test/support/hear.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, ownModel, settle, type TestStore } from '../../test/support/store.ts'
import { SPREAD_DEFAULTS } from '../run/fact.ts'
import { openClient } from './connect.ts'
import { forgetFacts } from './forget-facts.ts'
import { readBacklog } from './read-backlog.ts'
import { spreadFacts } from './spread-facts.ts'

const PAST = 6_000
const BIG = [
  'outbox',
  'deliveries',
  'receivers',
  'documents',
  'progress_counts',
  'batch_watches',
  'model_runs',
  'run_files',
]

const FILL = [
  `INSERT INTO receivers (id, channel, owner, kinds, slots, created_at, created_by)
   SELECT gen_random_uuid(), 'webhook', 'o' || i, '{run.created}', 8, clock(), 'x' FROM generate_series(1, 1500) AS i`,
  `INSERT INTO wanted_events (owner, type, receiver_id) SELECT owner, 'created', id FROM receivers WHERE owner LIKE 'o%'`,
  `INSERT INTO outbox (id, kind, owner, at, spread_at) SELECT 'past' || i, 'run.created', 'o', clock(), clock() FROM generate_series(1, ${PAST}) AS i`,
  `INSERT INTO progress_counts SELECT 'o' || i, gen_random_uuid(), 1 FROM generate_series(1, ${PAST}) AS i`,
  `INSERT INTO batch_watches SELECT gen_random_uuid(), 'o', clock() + interval '1 day' FROM generate_series(1, ${PAST})`,
  `INSERT INTO files (id, bytes, type, ref, created_at) VALUES (repeat('a', 64), 1, 'x', 'x', clock())`,
  `INSERT INTO documents (owner, payload_hash, file_id, run_id, created_at)
   SELECT 'o' || i % 50, i, repeat('a', 64), gen_random_uuid(), clock() FROM generate_series(1, ${PAST}) AS i`,
  `INSERT INTO deliveries (id, receiver_id, channel, owner, kind, message_id, data, state, created_at, available_at, finished_at)
   SELECT gen_random_uuid(), $1, 'mail', 'o', 'x', i, '{}', 'DELIVERED', clock(), clock(), clock() FROM generate_series(1, ${PAST}) AS i`,
]

describe.each(postgresVersions)('plans of the outbox on Postgres %s', (server) => {
  let t: TestStore
  let early: pg.Client
  let pool: ExplainingPool
  let owner: string
  let mail: string
  let hook: string
  beforeAll(async () => {
    t = await openTestStore(server)
    owner = randomUUID()
    mail = await mailTo(t.store, owner, 'failure', 'progress', 'batch_finished')
    hook = await hearOf(t.store, owner, 'run.succeeded', 'batch.progress')
    // A connection that made its plan of the trigger while everything was empty.
    early = await openClient({ url: t.database.url, name: 'early' })
    const { id } = await t.add({ owner })
    for (let seq = 2; seq < 10; seq += 1) await tell(early, id, seq)
    for (const sql of FILL) await t.database.query(sql, sql.includes('$1') ? [mail] : [])
    await addDocuments(t.store, t.database, 1_000, { owner: 'past', model: ownModel() })
    await t.database.query('DELETE FROM outbox WHERE spread_at IS NULL')
    await t.database.query(`ANALYZE ${[...BIG, 'wanted_events', 'run_events'].join(', ')}`)
    pool = await openExplainingPool({ url: t.database.url, name: 'plans', pinPlans: true })
  })
  afterAll(async () => {
    await early.end()
    await pool.close()
    await t.close()
  })

  const tell = (client: pg.ClientBase, id: string, seq: number) =>
    client.query(`INSERT INTO run_events (run_id, seq, type, at) VALUES ($1, $2, 'succeeded', clock())`, [id, seq])

  /** A pool whose connections explain; what would be one transaction is one for each statement. */
  function explaining(): pg.Pool {
    const query = async (config: string | { text: string }, values?: unknown[]) =>
      config === 'BEGIN' || config === 'COMMIT' ? undefined : pool.query(config as string, values)
    const client = { query, on() {}, off() {}, release() {} }
    return { query, connect: async () => client } as unknown as pg.Pool
  }
  const seqScans = (explained: Explained[]) =>
    explained.flatMap(({ nodes }) =>
      nodes.filter((node) => node['Node Type'] === 'Seq Scan' && BIG.includes(node['Relation Name'] ?? '')),
    )

  it('spreading looks at what it spreads', async () => {
    const model = ownModel()
    await addDocuments(t.store, t.database, 40, { owner, model, batchId: randomUUID() })
    const leases = await t.claim({ slots: 40, models: [{ model, version: '1', room: 40 }] })
    await Promise.all(leases.map((lease, no) => settle(t, lease, no < 20 ? 'succeed' : 'fail')))
    pool.take()
    const spread = await spreadFacts(explaining(), 40, { ...SPREAD_DEFAULTS, progressEvery: 5 })
    expect(spread).toMatchObject({ facts: 40, broken: 0 })
    expect((await deliveriesTo(t.database, hook)).length).toBe(24)
    const explained = pool.take()
    expect(explained.length).toBeGreaterThan(9)
    expect(seqScans(explained)).toEqual([])
    for (const table of BIG)
      for (const one of explained) expect(rowsRead(one, table), `${table} in ${one.text}`).toBeLessThanOrEqual(80)
    expect(explained.reduce((sum, { blocks }) => sum + blocks, 0)).toBeLessThan(40 * 150)
  })

  it('spreading nothing, the backlog and forgetting cost nothing', async () => {
    pool.take()
    await spreadFacts(explaining(), 500, SPREAD_DEFAULTS)
    await readBacklog(explaining())
    await forgetFacts(explaining(), 30)
    const explained = pool.take()
    expect(seqScans(explained)).toEqual([])
    for (const one of explained) expect(one.blocks, one.text).toBeLessThan(100)
  })

  it.each(['a connection whose plans are pinned', 'one that planned while all was empty'])(
    'the trigger looks up its run and who wants it, on %s',
    async (which) => {
      const isPinned = which.includes('pinned')
      const client = isPinned ? await openClient({ url: t.database.url, name: 'x', pinPlans: true }) : early
      const { id } = await t.add({ owner })
      await client.query('BEGIN')
      for (let seq = 2; seq < 12; seq += 1) await tell(client, id, seq)
      const { rows } = await client.query(
        `SELECT sum(seq_tup_read)::int AS read, sum(idx_tup_fetch)::int AS found FROM pg_stat_xact_user_tables
         WHERE relname IN ('model_runs', 'outbox')`,
      )
      const wanted = await client.query(
        `SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) AS read FROM pg_stat_xact_user_tables WHERE relname = 'wanted_events'`,
      )
      await client.query('ROLLBACK')
      if (isPinned) await client.end()
      expect(rows[0]).toMatchObject({ read: 0 })
      expect(rows[0].found).toBeLessThanOrEqual(10 * 3)
      // Each event asks whether anybody wants anything, and then for its own kind.
      expect(wanted.rows[0]!.read).toBeLessThanOrEqual(10 * 10)
    },
  )
})
