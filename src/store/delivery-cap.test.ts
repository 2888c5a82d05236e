/** Several relays at once: the cap of a receiver holds, nobody starves, and no delivery is forgotten between two of them. */

import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { addDeliveries, addWebhook, failedOf, overlooked, sentOf } from '../../test/support/new-delivery.ts'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import { claimOf, lockDue } from './claim-deliveries.ts'
import { openStore } from './open-store.ts'
import { settleOf } from './settle-deliveries.ts'
import type { Store } from './store.ts'

const HOW = { limit: 100, leaseMs: 60_000, channels: ['webhook' as const] }

describe('deliveries under several relays', () => {
  let t: TestStore
  let stores: Store[]
  beforeAll(async () => {
    t = await openTestStore('18')
    stores = [t.store, openStore({ url: t.database.url }), openStore({ url: t.database.url })]
  })
  beforeEach(() => t.database.query('DELETE FROM receivers'))
  afterEach(async () => expect(await overlooked(t.database)).toEqual([]))
  afterAll(async () => {
    await Promise.all(stores.slice(1).map((store) => store.close()))
    await t.close()
  })

  const sending = async (receiver: string) =>
    (
      await t.database.query<{ count: number }>(
        'SELECT count(*) FROM deliveries WHERE receiver_id = $1 AND lease_token IS NOT NULL AND available_at > clock()',
        [receiver],
      )
    )[0]!.count

  /** A connection in a transaction, stepped by hand. */
  async function step(): Promise<pg.PoolClient> {
    const client = await t.database.pool.connect()
    await client.query('BEGIN')
    onTestFinished(async () => {
      await client.query('ROLLBACK')
      client.release()
    })
    return client
  }

  it('a second claim passes by a receiver the first is at, and sees its sends when it comes after it', async () => {
    const hook = await addWebhook(t.store, { slots: 3 })
    await addDeliveries(t.database, hook, { count: 10 })
    const [first, second] = [await step(), await step()]
    const locked = await lockDue(first, HOW)
    expect(await lockDue(second, HOW)).toEqual([])
    expect(await claimOf(first, locked, HOW)).toHaveLength(3)
    await first.query('COMMIT')
    expect(await lockDue(second, HOW)).toEqual([])
    expect(await t.store.deliveries.claim(HOW)).toEqual([])
    expect(await sending(hook)).toBe(3)
  })

  it('a claim whose transaction began before another was committed counts what that one took', async () => {
    const hook = await addWebhook(t.store, { slots: 3 })
    await addDeliveries(t.database, hook, { count: 10 })
    const late = await step()
    await late.query('SELECT FROM deliveries')
    expect(await t.store.deliveries.claim({ ...HOW, limit: 2 })).toHaveLength(2)
    const locked = await lockDue(late, HOW)
    expect(await claimOf(late, locked, HOW)).toHaveLength(1)
    await late.query('COMMIT')
    expect(await sending(hook)).toBe(3)
  })

  it('a settle waits for a claim at the same receiver, and the slot it frees is seen', async () => {
    const hook = await addWebhook(t.store, { slots: 1 })
    await addDeliveries(t.database, hook, { count: 2 })
    const [one] = await t.store.deliveries.claim(HOW)
    // As far as the settle can see without waiting, the receiver is due already.
    await addDeliveries(t.database, hook)
    const claiming = await step()
    await claiming.query('SELECT FROM receivers WHERE id = $1 FOR NO KEY UPDATE', [hook])
    const settling = t.store.deliveries.settle([sentOf(one!)])
    const waits = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM receivers%'`
    await until(async () => (await t.database.query(waits)).length > 0, { what: 'the settle waits', everyMs: 5 })
    expect(await claimOf(claiming, [{ id: hook, slots: 1 }], HOW)).toEqual([])
    await claiming.query('COMMIT')
    expect((await settling).size).toBe(1)
    expect(await t.store.deliveries.claim(HOW)).toHaveLength(1)
  })

  it('a delivery that is being changed is left for the next claim, and nobody waits', async () => {
    const hook = await addWebhook(t.store)
    const [id, other] = await addDeliveries(t.database, hook, { count: 2 })
    const joining = await step()
    await joining.query('UPDATE deliveries SET data = data WHERE id = $1', [id])
    expect((await t.store.deliveries.claim(HOW)).map((one) => one.id)).toEqual([other])
    await joining.query('COMMIT')
    expect((await t.store.deliveries.claim(HOW)).map((one) => one.id)).toEqual([id])
  })

  it('a delivery that is made while a claim finds none is due all the same', async () => {
    const hook = await addWebhook(t.store)
    await addDeliveries(t.database, hook, { state: 'DELIVERED' })
    await t.database.query('UPDATE receivers SET due_at = clock() WHERE id = $1', [hook])
    const claiming = await step()
    const locked = await lockDue(claiming, HOW)
    expect(await claimOf(claiming, locked, HOW)).toEqual([])
    const making = addDeliveries(t.database, hook)
    await claiming.query('COMMIT')
    await making
    expect(await t.store.deliveries.claim(HOW)).toHaveLength(1)
  })

  it('100 receivers whose slots are full, with old backlog, do not delay a fresh one', async () => {
    const full = await Promise.all(Array.from({ length: 100 }, () => addWebhook(t.store, { slots: 1 })))
    const backlog = { count: 5, createdAgo: '1 day', availableIn: '-1 day' }
    await Promise.all(full.map((hook) => addDeliveries(t.database, hook, backlog)))
    for (let no = 0; no < 10; no += 1) await t.store.deliveries.claim({ ...HOW, limit: 10 })
    const fresh = await addWebhook(t.store)
    const [id] = await addDeliveries(t.database, fresh)
    const claimed = await t.store.deliveries.claim({ ...HOW, limit: 10 })
    expect(claimed.map((one) => one.id)).toEqual([id])
  })

  it('one with much to send and many slots takes its share, and goes to the end of the line', async () => {
    const busy = await addWebhook(t.store, { slots: 1_000 })
    await addDeliveries(t.database, busy, { count: 500, createdAgo: '1 day', availableIn: '-1 day' })
    expect(await t.store.deliveries.claim({ ...HOW, limit: 10 })).toHaveLength(10)
    const others = await Promise.all(Array.from({ length: 9 }, () => addWebhook(t.store)))
    // They came before the claim that the busy one was served in.
    for (const other of others) await addDeliveries(t.database, other)
    await t.database.query(`UPDATE receivers SET due_at = clock() - interval '1 second' WHERE id = ANY($1)`, [others])
    const claimed = await t.store.deliveries.claim({ ...HOW, limit: 9 })
    expect(claimed.map((one) => one.receiverId).sort()).toEqual(others.toSorted())
    expect(await t.store.deliveries.claim({ ...HOW, limit: 9 })).toHaveLength(9)
  })

  it('a claim takes no more than its limit, and of each receiver as much as of any other', async () => {
    const hooks = await Promise.all(Array.from({ length: 5 }, () => addWebhook(t.store, { slots: 100 })))
    for (const hook of hooks) await addDeliveries(t.database, hook, { count: 20 })
    const claimed = await t.store.deliveries.claim({ ...HOW, limit: 10 })
    expect(claimed.map((one) => one.receiverId).sort()).toEqual([...hooks, ...hooks].sort())
  })

  it('three relays at once send everything once, never more than the slots of any receiver together', async () => {
    const hooks = await Promise.all([2, 3, 5].map((slots) => addWebhook(t.store, { slots })))
    const slots = new Map(hooks.map((hook, no) => [hook, [2, 3, 5][no]!]))
    for (const hook of hooks) await addDeliveries(t.database, hook, { count: 60 })
    const underWay = new Map(hooks.map((hook) => [hook, 0]))
    const sent: string[] = []
    let over = 0
    async function relay(store: Store): Promise<void> {
      while (sent.length < 180) {
        const claimed = await store.deliveries.claim({ ...HOW, limit: 8 })
        for (const { receiverId } of claimed) {
          underWay.set(receiverId, underWay.get(receiverId)! + 1)
          if (underWay.get(receiverId)! > slots.get(receiverId)!) over += 1
        }
        await new Promise((resolve) => setImmediate(resolve))
        for (const { receiverId } of claimed) underWay.set(receiverId, underWay.get(receiverId)! - 1)
        const settled = await store.deliveries.settle(
          claimed.map((one, no) => (no === 3 && one.tries < 2 ? failedOf(one, { delayMs: 0 }) : sentOf(one))),
        )
        sent.push(...claimed.flatMap((one, no) => (settled.has(one.id) && !(no === 3 && one.tries < 2) ? one.id : [])))
      }
    }
    await Promise.all(stores.map(relay))
    expect(over).toBe(0)
    expect(new Set(sent).size).toBe(180)
    expect(await t.database.query(`SELECT FROM deliveries WHERE state <> 'DELIVERED'`)).toEqual([])
  })

  it('facts that are spread, claimed and settled by all at once are told once to each, and none is overlooked', async () => {
    const owners = ['o1', 'o2', 'o3', 'o4']
    for (const owner of owners) await addWebhook(t.store, { owner, slots: 2, kinds: ['quota.warning'] })
    await addWebhook(t.store, { owner: '*', slots: 3, kinds: ['quota.warning'] })
    const factsOf = (no: number) =>
      owners.map((owner) => ({
        id: `quota_${owner}_${no}`,
        kind: 'quota.warning' as const,
        owner,
        runId: null,
        batchId: null,
        data: {},
      }))
    const told: string[] = []
    async function relay(store: Store, first: number): Promise<void> {
      for (let no = first; told.length < 120; no += 3) {
        if (no < 15) await store.outbox.announce(factsOf(no))
        await store.outbox.spread(3)
        const claimed = await store.deliveries.claim({ ...HOW, limit: 4 })
        const settled = await store.deliveries.settle(claimed.map((one) => sentOf(one)))
        told.push(...claimed.filter(({ id }) => settled.has(id)).map((one) => `${one.receiverId} ${one.messageId}`))
      }
    }
    await Promise.all(stores.map(relay))
    expect(new Set(told).size).toBe(120)
    expect(await t.database.query(`SELECT FROM deliveries WHERE state <> 'DELIVERED'`)).toEqual([])
  })

  it.each(['claim', 'settle'] as const)(
    'a %s whose connection is cut before its commit has changed nothing',
    async (what) => {
      const hook = await addWebhook(t.store, { slots: 2 })
      await addDeliveries(t.database, hook, { count: 3 })
      const [one] = what === 'settle' ? await t.store.deliveries.claim({ ...HOW, limit: 1 }) : []
      const all = 'SELECT * FROM deliveries ORDER BY id'
      const before = await t.database.query(all)
      const dying = await t.database.pool.connect()
      dying.on('error', () => {})
      const [{ pid }] = (
        (await dying.query('BEGIN; SELECT pg_backend_pid() AS pid')) as unknown as pg.QueryResult[]
      )[1]!.rows as [{ pid: number }]
      if (one) await settleOf(dying, [sentOf(one)])
      else await claimOf(dying, await lockDue(dying, HOW), HOW)
      await t.database.query('SELECT pg_terminate_backend($1, 5000)', [pid])
      dying.release(true)
      expect(await t.database.query(all)).toEqual(before)
      expect(await t.database.query('SELECT FROM delivery_attempts')).toEqual([])
      // Whoever comes next goes on as if nothing had been.
      if (one) expect((await t.store.deliveries.settle([sentOf(one)])).size).toBe(1)
      else expect(await t.store.deliveries.claim(HOW)).toHaveLength(2)
    },
  )
})
