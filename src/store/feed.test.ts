/**
 * The feed with two sessions: one writes slowly, the other quickly, and a reader goes on from cursor to cursor. What it
 * has seen is compared with what was committed: everything, and nothing twice.
 */

import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { openExplainingPool, rowsRead } from '../../test/support/explain.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore } from '../../test/support/store.ts'
import { decodeCursor, encodeCursor, type FeedCursor } from '../run/feed-cursor.ts'
import { createFeed } from './feed.ts'
import { FEED_SETTINGS } from './feed-batch.ts'
import type { FeedEvent } from './ports/feed.ts'

const RUN = '01890a0b-0c0d-7000-8000-000000000000'

describe.each(postgresVersions)('the feed on Postgres %s', (server) => {
  let t: TestStore
  let cursor: FeedCursor
  beforeAll(async () => {
    t = await openTestStore(server)
    await t.add({ id: RUN })
  })
  afterAll(() => t.close())
  beforeEach(async () => {
    cursor = await here()
  })

  async function here(): Promise<FeedCursor> {
    const { cluster, atMs, moment } = await t.store.feed.now()
    return { cluster, atMs, after: moment, batch: null }
  }

  /** Everything since the last call, in pages; each place goes through its text, as between a server and its client. */
  async function readOn(limit = 100): Promise<FeedEvent[]> {
    const events: FeedEvent[] = []
    for (let more = true; more; ) {
      const read = await t.store.feed.read(decodeCursor(encodeCursor(cursor))!, limit)
      if (read.outcome === 'lost') throw new Error('the cursor was lost')
      events.push(...read.events)
      cursor = read.cursor
      more = read.more
    }
    return events
  }

  const messages = async (limit?: number) => (await readOn(limit)).map(({ message }) => message)

  let seq = 100
  const write = (client: pg.ClientBase | pg.Pool, message: string) =>
    client.query(`INSERT INTO run_events (run_id, seq, type, at, message) VALUES ($1, $2, 'by hand', clock(), $3)`, [
      RUN,
      seq++,
      message,
    ])

  /** A session with an open transaction that has written something. */
  async function openWriter(database: TestDatabase, statement: (client: pg.Client) => Promise<unknown>) {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query('SET search_path = holdfast; BEGIN')
    await statement(client)
    return {
      client,
      async end(how: 'COMMIT' | 'ROLLBACK') {
        await client.query(how)
        await client.end()
      },
    }
  }

  it('has the events of a life in order, with owner, model and queue', async () => {
    const lease = await t.running({ owner: 'ana', model: 'feeds', queue: 'default' })
    await settle(t, lease, 'succeed')
    const events = await readOn()
    expect(events.map(({ type, seq, status }) => [seq, type, status])).toEqual([
      [1, 'created', 'PENDING'],
      [2, 'started', 'RUNNING'],
      [3, 'succeeded', 'SUCCEEDED'],
    ])
    expect(events[1]).toMatchObject({ runId: lease.runId, owner: 'ana', model: 'feeds', queue: 'default', attempt: 1 })
    expect(await readOn()).toEqual([])
  })

  it('shows a slow writer with a lower number after a faster one with a higher number, once', async () => {
    const slow = await openWriter(t.database, (client) => write(client, 'slow'))
    await write(t.database.pool, 'fast')
    expect(await messages()).toEqual(['fast'])
    await write(t.database.pool, 'next')
    expect(await messages()).toEqual(['next'])
    await slow.end('COMMIT')
    expect(await messages()).toEqual(['slow'])
    expect(await messages()).toEqual([])
  })

  it('shows nothing of a writer that rolls back', async () => {
    const slow = await openWriter(t.database, (client) => write(client, 'never'))
    await write(t.database.pool, 'kept')
    expect(await messages()).toEqual(['kept'])
    await slow.end('ROLLBACK')
    expect(await messages()).toEqual([])
  })

  it('is not held up by a writer that stays open, here or in another database of the cluster', async () => {
    const other = await createTestDatabase({ server, migrated: false })
    const here = await openWriter(t.database, (client) => client.query('SELECT pg_current_xact_id()'))
    const elsewhere = await openWriter(other, (client) => client.query('SELECT pg_current_xact_id()'))
    for (const message of ['a', 'b', 'c']) {
      await write(t.database.pool, message)
      expect(await messages()).toEqual([message])
    }
    await here.end('ROLLBACK')
    await elsewhere.end('COMMIT')
    await other.drop()
    expect(await messages()).toEqual([])
  })

  it('is gapless and without repeats in pages of one, also from a place inside a batch while others commit', async () => {
    const slow = await openWriter(t.database, (client) => write(client, 'late'))
    for (const message of ['a', 'b', 'c', 'd']) await write(t.database.pool, message)
    const first = await t.store.feed.read(cursor, 2)
    if (first.outcome === 'lost') throw new Error('lost')
    expect(first.events.map(({ message }) => message)).toEqual(['a', 'b'])
    expect(first.more).toBe(true)
    // The place behind the first event alone, as a client has it that was cut off between the two.
    cursor = first.cursors[0]!
    await slow.end('COMMIT')
    await write(t.database.pool, 'e')
    expect(await messages(1)).toEqual(['b', 'c', 'd', 'late', 'e'])
    expect(await messages(1)).toEqual([])
  })

  it('loses nothing and repeats nothing under many writers of different speed', async () => {
    const seen: (string | null)[] = []
    const done = Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        const client = new pg.Client({ connectionString: t.database.url })
        await client.connect()
        await client.query('SET search_path = holdfast')
        for (let no = 0; no < 25; no += 1) {
          await client.query('BEGIN')
          await write(client, `${writer}.${no}`)
          if (no % 3 === writer % 3) await client.query('SELECT pg_sleep(0.003)')
          await client.query('COMMIT')
        }
        await client.end()
      }),
    )
    let writing = true
    void done.finally(() => {
      writing = false
    })
    while (writing) seen.push(...(await messages(7)))
    await done
    seen.push(...(await messages(7)))
    expect(seen).toHaveLength(200)
    expect(new Set(seen).size).toBe(200)
  })

  it('tells a cursor of another database, or of a time to come, from its own, and a place before it', async () => {
    await write(t.database.pool, 'before')
    const { cursor: place } = (await t.store.feed.read(cursor, 10)) as { cursor: FeedCursor }
    const ahead = { ...place.after, xmax: place.after.xmax + 1_000 }
    const foreign = [
      { ...place, cluster: '0000000000000000' },
      { ...place, after: ahead },
    ]
    for (const one of foreign) {
      const read = await t.store.feed.read(one, 10)
      expect(read.outcome).toBe('lost')
      cursor = read.cursor
      expect(await messages()).toContain('before')
    }
  })

  it('goes on from now when nothing has happened since the time of a lost cursor', async () => {
    const later = Date.now() + 3_600_000
    await t.database.shiftClock('2 hours')
    const read = await t.store.feed.read({ ...cursor, cluster: '0000000000000000', atMs: later }, 10)
    await t.database.shiftClock('0')
    cursor = read.cursor
    expect(await messages()).toEqual([])
  })

  it('reads the newest events only, whatever history and statistics there are', async () => {
    const history = 200_000
    await t.database.query(
      // Numbers below those of any transaction of a new cluster.
      `INSERT INTO run_events (run_id, seq, type, at, xid)
       SELECT gen_random_uuid(), 1, 'old', clock() - interval '1 day', 3 + n / 400 FROM generate_series(1, ${history}) n`,
    )
    await t.store.feed.tidy()
    const url = t.database.url
    const explaining = await openExplainingPool({ url, name: 'feed', settings: FEED_SETTINGS })
    const feed = createFeed({ feedPool: explaining, reads: explaining, answered: (asked) => asked })
    for (const analysed of [false, true]) {
      if (analysed) await t.database.query('VACUUM ANALYZE run_events')
      cursor = await here()
      await write(t.database.pool, 'new')
      const { moment } = await t.store.feed.now()
      await feed.batch({ after: cursor.after, until: moment, last: null }, { limit: 10 })
      for (const explained of explaining.take()) {
        expect(explained.nodes.map((node) => node['Index Name'])).toContain('idx_events_xid')
        expect(rowsRead(explained, 'run_events')).toBeLessThan(20_000)
        expect(explained.blocks).toBeLessThan(400)
      }
    }
    await explaining.close()
  })
})
