/** Several who spread at once, and one who dies at any statement: every fact is told once, every mark is passed once. */

import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addDocuments, deliveriesTo, hearOf, mailTo, spreadAll } from '../../test/support/hear.ts'
import { type FaultProxy, startProxy } from '../../test/support/proxy.ts'
import { openTestStore, ownModel, settle, type TestStore } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import { SPREAD_DEFAULTS } from '../run/fact.ts'
import { openPool } from './connect.ts'
import { openStore } from './open-store.ts'
import { spreadFacts } from './spread-facts.ts'
import type { Store } from './store.ts'
import { watchBatches } from './watch-batches.ts'

const DOCUMENTS = 3_500

describe('several who spread', () => {
  let t: TestStore
  let stores: Store[]
  beforeAll(async () => {
    t = await openTestStore('18')
    stores = [t.store, openStore({ url: t.database.url }), openStore({ url: t.database.url })]
  })
  afterAll(async () => {
    await Promise.all(stores.slice(1).map((store) => store.close()))
    await t.close()
  })

  it('3,500 documents that end on many workers pass 1,000, 2,000 and 3,000 once each', async () => {
    const owner = randomUUID()
    const model = ownModel()
    const batchId = randomUUID()
    const mail = await mailTo(t.store, owner, 'progress')
    const hook = await hearOf(t.store, owner, 'batch.progress', 'run.succeeded')
    await addDocuments(t.store, t.database, DOCUMENTS, { owner, model, batchId })

    let spread = 0
    const work = async (store: Store, no: number) => {
      const worker = {
        workerId: `worker-${no}`,
        leaseMs: 60_000,
        slots: 250,
        queues: [{ queue: 'default', room: 250 }],
      }
      for (;;) {
        const leases = await store.claim({ ...worker, models: [{ model, version: '1', room: 250 }] })
        if (leases.length === 0) return
        await Promise.all(leases.map((lease) => settle({ store }, lease, 'succeed', { workerId: worker.workerId })))
      }
    }
    const relay = async (store: Store, limit: number) => {
      const once = async () => {
        const { facts } = await store.outbox.spread(limit)
        spread += facts
        return facts > 0 || spread >= DOCUMENTS
      }
      while (spread < DOCUMENTS) await until(once, { what: 'there are facts to spread' })
    }
    const relays = stores.map((store, no) => relay(store, 97 + 100 * no))
    await Promise.all([...stores.map(work), ...relays])
    expect(spread).toBe(DOCUMENTS)

    expect((await deliveriesTo(t.database, mail)).map(({ data }) => data.done)).toEqual([1_000, 2_000, 3_000])
    const told = await deliveriesTo(t.database, hook)
    const marks = told.filter(({ kind }) => kind === 'batch.progress').map(({ data }) => data.data as { done: number })
    expect(marks.map(({ done }) => done)).toEqual([1_000, 2_000, 3_000])
    expect(told.filter(({ kind }) => kind === 'run.succeeded')).toHaveLength(DOCUMENTS)
    const counts = await t.database.query('SELECT done FROM progress_counts WHERE owner = $1', [owner])
    expect(counts).toEqual([{ done: DOCUMENTS }, { done: DOCUMENTS }])
  })
})

type Match = (text: string) => boolean
const includes =
  (part: string): Match =>
  (text) =>
    text.includes(part)

const SPREAD: Record<string, Match> = {
  BEGIN: (text) => text === 'BEGIN',
  'the facts': includes('FROM outbox WHERE spread_at IS NULL'),
  'the receivers': includes('FROM receivers WHERE owner = ANY'),
  'the runs': includes('AS "modelVersion"'),
  'the documents': includes('UPDATE documents'),
  'the counts': includes('INSERT INTO progress_counts'),
  'the titles': includes('FROM batches WHERE id = ANY'),
  'the watches': includes('INSERT INTO batch_watches'),
  'the facts of marks': includes('INSERT INTO outbox'),
  'the mark of the facts': includes('UPDATE outbox SET spread_at'),
  'the locks of the receivers': includes('UPDATE receivers r SET due_at'),
  'the deliveries': includes('ON CONFLICT (receiver_id, message_id)'),
  'the joined mails': includes('ON CONFLICT (receiver_id, group_key)'),
  COMMIT: (text) => text === 'COMMIT',
}
const WATCH: Record<string, Match> = {
  BEGIN: SPREAD.BEGIN!,
  'the watch': includes('FROM batch_watches WHERE due_at'),
  'the count': includes('WITH RECURSIVE run'),
  'the title': includes('AS "hasDocuments"'),
  'the fact': includes('INSERT INTO outbox'),
  'the end of the watch': includes('DELETE FROM batch_watches'),
  COMMIT: SPREAD.COMMIT!,
}
const faultsAt = (statements: Record<string, Match>) =>
  (['dropNextRequest', 'dropNextReply'] as const).flatMap((fault) =>
    Object.entries(statements).map(([what, match]) => ({ fault, what, match })),
  )

describe('one who dies', () => {
  const settings = { ...SPREAD_DEFAULTS, progressEvery: 3 }
  let t: TestStore
  let proxy: FaultProxy
  let pool: pg.Pool
  beforeAll(async () => {
    t = await openTestStore('18', { spread: settings })
  })
  afterAll(() => t.close())
  beforeEach(async () => {
    await t.database.shiftClock('0')
    const { hostname, port } = new URL(t.database.url)
    proxy = await startProxy({ host: hostname, port: Number(port) })
    const url = proxy.through(t.database.url)
    pool = openPool({ url, name: 'lossy', max: 1, statementTimeoutMs: 400, connectTimeoutMs: 400, pinPlans: true })
  })
  afterEach(async () => {
    proxy.cut()
    await pool.end()
    await proxy.close()
  })

  /** Three documents done, one failed, in one batch that somebody follows in every way. */
  async function ended() {
    const owner = randomUUID()
    const [model, batchId] = [ownModel(), randomUUID()]
    const mail = await mailTo(t.store, owner, 'progress', 'failure', 'batch_finished')
    const hook = await hearOf(t.store, owner, 'run.succeeded', 'run.failed', 'batch.progress', 'batch.completed')
    await addDocuments(t.store, t.database, 4, { owner, model, batchId })
    const leases = await t.claim({ slots: 4, models: [{ model, version: '1', room: 4 }] })
    await Promise.all(leases.map((lease, no) => settle(t, lease, no === 0 ? 'fail' : 'succeed')))
    return { owner, mail, hook }
  }
  const kindsTo = async (id: string) => (await deliveriesTo(t.database, id)).map(({ kind }) => kind).toSorted()
  const TOLD = ['batch.progress', 'run.failed', 'run.succeeded', 'run.succeeded', 'run.succeeded']

  /** The server lets go of the rows of the dead when it has noticed. */
  const nothingLeft = (of: string, work: () => Promise<unknown>) =>
    until(
      async () => {
        await work()
        return (await t.database.query(`SELECT FROM ${of}`)).length === 0
      },
      { what: `there is nothing left in ${of}` },
    )

  it.each(faultsAt(SPREAD))('while spreading, $fault at $what: everything is told once', async ({ fault, match }) => {
    const { owner, mail, hook } = await ended()
    const dropped = proxy[fault](match)
    await expect(spreadFacts(pool, 100, settings)).rejects.toThrow()
    await dropped
    await nothingLeft('outbox WHERE spread_at IS NULL', () => spreadAll(t.store))
    expect([await kindsTo(mail), await kindsTo(hook)]).toEqual([['failure', 'progress'], TOLD])
    expect((await deliveriesTo(t.database, mail)).map(({ data }) => data.documents)).toContainEqual([expect.anything()])
    const counts = await t.database.query('SELECT done FROM progress_counts WHERE owner = $1', [owner])
    expect(counts).toEqual([{ done: 3 }, { done: 3 }])
    expect(await t.database.query('SELECT FROM batch_watches WHERE owner = $1', [owner])).toHaveLength(1)
  })

  it.each(faultsAt(WATCH))('while watching batches, $fault at $what: complete once', async ({ fault, match }) => {
    await t.database.query('DELETE FROM batch_watches')
    const { owner, hook } = await ended()
    await spreadAll(t.store)
    await t.database.shiftClock('31 seconds')
    const dropped = proxy[fault](match)
    await expect(watchBatches(pool, 10)).rejects.toThrow()
    await dropped
    await nothingLeft('batch_watches', () => t.store.outbox.watchBatches(10))
    await spreadAll(t.store)
    expect(await kindsTo(hook)).toEqual(['batch.completed', ...TOLD])
    expect(await t.database.query('SELECT FROM batch_watches WHERE owner = $1', [owner])).toEqual([])
  })
})
