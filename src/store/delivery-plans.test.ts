/** What a claim, a settlement and a page read stays small, however much a receiver has waiting and however long the history is. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Explained, type ExplainingPool, openExplainingPool, rowsRead } from '../../test/support/explain.ts'
import { addDeliveries, addWebhook, sentOf } from '../../test/support/new-delivery.ts'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import { claimOf, lockDue } from './claim-deliveries.ts'
import { WALK_SETTINGS, walkDeliveries } from './list-deliveries.ts'
import type { ClaimedDelivery } from './ports/deliveries.ts'
import { settleOf } from './settle-deliveries.ts'

/** With 100,000 as many rows are read. */
const WAITING = 10_000
const HOW = { limit: 50, leaseMs: 60_000, channels: ['webhook' as const] }

describe('plans of deliveries', () => {
  let t: TestStore
  let pinned: ExplainingPool
  let reads: ExplainingPool
  let busy: string
  let quiet: string
  beforeAll(async () => {
    t = await openTestStore('18')
    ;[busy, quiet] = [await addWebhook(t.store, { owner: 'ana' }), await addWebhook(t.store, { owner: 'bo' })]
    // Plans are made while the tables are small, as in a new service.
    pinned = await openExplainingPool({ url: t.database.url, name: 'plans', pinPlans: true })
    reads = await openExplainingPool({ url: t.database.url, name: 'pages', settings: WALK_SETTINGS })
    await addDeliveries(t.database, busy, { count: WAITING / 2, createdAgo: '1 hour', availableIn: '-1 minute' })
    // They wait for their next try, most of them within the time of a lease.
    await addDeliveries(t.database, busy, { count: WAITING / 2, createdAgo: '2 hours', availableIn: '30 seconds' })
    await addDeliveries(t.database, quiet, { count: WAITING / 5, createdAgo: '1 day', state: 'DELIVERED' })
    await t.database.query('ANALYZE deliveries')
  })
  afterAll(async () => {
    await pinned.close()
    await reads.close()
    await t.close()
  })

  const readBy = (explained: readonly Explained[]) => ({
    blocks: Math.max(...explained.map(({ blocks }) => blocks)),
    rows: Math.max(...explained.map((one) => rowsRead(one, 'deliveries'))),
  })

  async function claim(): Promise<{ claimed: ClaimedDelivery[]; read: { blocks: number; rows: number } }> {
    pinned.take()
    const claimed = await claimOf(pinned as never, await lockDue(pinned as never, HOW), HOW)
    return { claimed, read: readBy(pinned.take()) }
  }

  it('a receiver with much waiting costs no more than another, at claim and at settle', async () => {
    const first = await claim()
    expect(first.claimed).toHaveLength(8)
    expect(first.read.rows).toBeLessThan(150)
    expect(first.read.blocks).toBeLessThan(1_500)
    await addDeliveries(t.database, quiet, { count: 3 })
    const second = await claim()
    expect(second.claimed.map(({ receiverId }) => receiverId)).toEqual([quiet, quiet, quiet])
    expect(second.read.rows).toBeLessThan(20)
    expect(second.read.blocks).toBeLessThan(400)
    pinned.take()
    await settleOf(
      pinned as never,
      [...first.claimed, ...second.claimed].map((one) => sentOf(one)),
    )
    const { rows, blocks } = readBy(pinned.take())
    expect(rows).toBeLessThan(60)
    expect(blocks).toBeLessThan(1_500)
  })

  const page = { limit: 20, cursor: null }
  it.each([
    ['of everyone', { owner: null }],
    ['of an owner', { owner: 'bo' }],
    ['of a receiver', { owner: null, receiver: true }],
    ['of a state', { owner: null, state: 'DELIVERED' as const }],
    ['of an owner and a state', { owner: 'bo', state: 'DELIVERED' as const }],
    ['of an owner without any', { owner: 'nobody' }],
    ['that nothing fits', { owner: null, kind: 'run.created' }],
    ['of an owner in a state it has none of', { owner: 'bo', state: 'PENDING' as const }],
  ])(
    'a page %s reads a bounded number of deliveries',
    async (_what, { receiver, ...filter }: { owner: string | null; receiver?: boolean }) => {
      reads.take()
      await walkDeliveries(reads, { ...filter, ...(receiver && { receiverId: quiet }), ...page }, 500)
      const explained = reads.take()
      expect(
        explained
          .flatMap(({ nodes }) => nodes.filter((node) => node['Node Type'] === 'Sort'))
          .filter((node) => node['Actual Rows'] > 500),
      ).toEqual([])
      expect(readBy(explained).rows).toBeLessThan(1_100)
    },
  )

  it('pages go on behind what did not fit, until everything was looked at', async () => {
    const kind = 'run.cancelled'
    const [rare] = await addDeliveries(t.database, quiet, { kind, createdAgo: '2 days', state: 'DEAD' })
    let cursor: string | null = null
    const found: string[] = []
    let pages = 0
    do {
      const next = await walkDeliveries(t.database.pool, { owner: 'bo', kind, limit: 5, cursor }, 1_000)
      found.push(...next.data.map(({ id }) => id))
      cursor = next.nextCursor
      pages += 1
    } while (cursor !== null && pages < 20)
    expect(found).toEqual([rare])
    expect(pages).toBeGreaterThan(1)
  })

  it('a page shows each once, in order, with those of the same moment', async () => {
    const hook = await addWebhook(t.store, { owner: randomUUID() })
    await addDeliveries(t.database, hook, { count: 7, state: 'DEAD' })
    await t.database.query('UPDATE deliveries SET created_at = clock() WHERE receiver_id = $1', [hook])
    let cursor: string | null = null
    const found: string[] = []
    do {
      const next = await walkDeliveries(t.database.pool, { owner: null, receiverId: hook, limit: 3, cursor }, 4)
      found.push(...next.data.map(({ id }) => id))
      cursor = next.nextCursor
    } while (cursor !== null)
    expect(found).toEqual([...new Set(found)].sort().toReversed())
    expect(found).toHaveLength(7)
  })
})
