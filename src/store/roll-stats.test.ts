/** Statistics equal a recount of the events, whatever commits late, dies or runs at the same time. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openExplainingPool, rowsRead } from '../../test/support/explain.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore, WORKER } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import { openPool } from './connect.ts'
import { FEED_SETTINGS } from './feed-batch.ts'
import { createRollStats, ROLL, ROLL_SETTING } from './roll-stats.ts'
import type { SettleKind } from './store.ts'

// Another way to the same numbers: straight from all events, without grouping sets, bins or cursors.
const RECOUNT = `
SELECT date_trunc($1, e.at, 'UTC') AS at, count(*) FILTER (WHERE e.type = 'created')::int AS created,
  count(*) FILTER (WHERE e.type = 'started')::int AS started, count(*) FILTER (WHERE e.type = 'succeeded')::int AS succeeded,
  count(*) FILTER (WHERE e.type = 'failed')::int AS failed, count(*) FILTER (WHERE e.type = 'cancelled')::int AS cancelled,
  count(*) FILTER (WHERE e.type = 'retry_scheduled')::int AS retried,
  count(*) FILTER (WHERE e.type = 'reclaimed' OR (e.type IN ('failed', 'cancelled') AND a.state = 'LOST'))::int AS reclaimed,
  count(*) FILTER (WHERE e.type = 'started' AND e.attempt = 1)::int AS lags,
  count(*) FILTER (WHERE e.type IN ('succeeded', 'failed', 'cancelled') AND r.started_at IS NOT NULL)::int AS durations
FROM run_events e JOIN model_runs r ON r.id = e.run_id LEFT JOIN run_attempts a ON a.run_id = e.run_id AND a.attempt = e.attempt
WHERE ($2::text IS NULL OR r.model = $2) AND ($3::text IS NULL OR r.queue = $3)
GROUP BY 1 ORDER BY 1`

const GRAINS = ['minute', 'hour', 'day'] as const
const KINDS: SettleKind[] = ['succeed', 'succeed', 'fail', 'retry', 'release', 'cancel']
const countIn = (histogram: Record<string, number>) => Object.values(histogram).reduce((sum, n) => sum + n, 0)

describe.each(postgresVersions)('statistics on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  const rollAll = () =>
    until(
      async () => {
        const rolled = await t.store.stats.roll({ minAgeMs: 0 })
        return rolled.outcome === 'rolled' && !rolled.more
      },
      { what: 'all events are counted', everyMs: 1 },
    )

  async function expectRecount(model: string | null = null, queue: string | null = null): Promise<void> {
    for (const grain of GRAINS) {
      const from = new Date('2000-01-01')
      const to = new Date('2100-01-01')
      const buckets = await t.store.stats.buckets({ grain, model, queue, from, to })
      const counted = buckets.map(({ lag, duration, ...counts }) => ({
        ...counts,
        lags: countIn(lag),
        durations: countIn(duration),
      }))
      expect(counted).toEqual(await t.database.query(RECOUNT, [grain, model, queue]))
    }
  }

  /** Submits, claims, settles in every way, cancels and loses leases, on models and queues of its own choice. */
  async function activity(no: number, rounds: number): Promise<void> {
    const workerId = `worker-${no}`
    for (let round = 0; round < rounds; round += 1) {
      const model = `m${(no + round) % 3}`
      const queue = `q${round % 2}`
      await Promise.all(Array.from({ length: 4 }, () => t.add({ model, queue, maxAttempts: 2 })))
      const leases = await t.claim({
        workerId,
        slots: 3,
        leaseMs: 60_000,
        queues: [{ queue, room: null }],
        models: [{ model, version: '1', room: null }],
      })
      for (const [index, lease] of leases.entries()) {
        const kind = KINDS[(no + round + index) % KINDS.length]!
        if (index === 2 && round % 2 === 0) await expire(lease.runId)
        else await settle(t, lease, kind, { workerId })
      }
      const [waiting] = await t.database.query<{ id: string }>(
        `SELECT id FROM model_runs WHERE status = 'PENDING' AND model = $1 LIMIT 1`,
        [model],
      )
      if (waiting && round % 3 === 0) await t.store.cancel(waiting.id)
      await t.store.reclaimExpired({ workerId, limit: 10 })
    }
  }

  const expire = (runId: string) =>
    t.database.query(`UPDATE model_runs SET lease_expires_at = clock() - interval '1 second' WHERE id = $1`, [runId])

  it('after random activity with four writers and three rollers they equal a recount', async () => {
    let busy = true
    const rollers = Array.from({ length: 3 }, async () => {
      while (busy) await t.store.stats.roll({ minAgeMs: 0 })
    })
    await Promise.all(Array.from({ length: 4 }, (_, no) => activity(no, 8)))
    busy = false
    await Promise.all(rollers)
    await rollAll()
    await expectRecount()
    await expectRecount('m1')
    await expectRecount(null, 'q0')
    await expectRecount('m2', 'q1')
    const [{ n } = { n: 0 }] = await t.database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM run_events WHERE type = 'reclaimed'`,
    )
    expect(n).toBeGreaterThan(0)
  })

  it('a transaction that commits long after others is counted once, when it has', async () => {
    const { id } = await t.add()
    const slow = await t.database.pool.connect()
    try {
      await slow.query('BEGIN')
      await slow.query(
        `WITH r AS (UPDATE model_runs SET event_seq = event_seq + 1 WHERE id = $1 RETURNING id, event_seq)
         INSERT INTO run_events (run_id, seq, type, at) SELECT id, event_seq, 'retry_scheduled', clock() FROM r`,
        [id],
      )
      for (let round = 0; round < 3; round += 1) {
        await t.add()
        await rollAll()
        await expectRecount()
      }
      await slow.query('COMMIT')
    } finally {
      slow.release()
    }
    const { retried } = await t.store.stats.totals({ model: null, queue: null })
    await rollAll()
    await rollAll()
    await expectRecount()
    expect(await t.store.stats.totals({ model: null, queue: null })).toMatchObject({ retried: retried + 1 })
  })

  it('a roller that is killed at it has counted nothing', async () => {
    await rollAll()
    await t.add()
    const pool = openPool({ url: t.database.url, name: 'killed', max: 1, settings: FEED_SETTINGS })
    const blocker = await t.database.pool.connect()
    try {
      await blocker.query('BEGIN; LOCK TABLE run_stats IN SHARE MODE')
      const killed = createRollStats(pool)({ minAgeMs: 0 }).catch((error: Error) => error)
      const end = `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'killed' AND wait_event_type = 'Lock'`
      await until(async () => (await t.database.query(end)).length > 0, { what: 'the roller waits for the lock' })
      expect(await killed).toBeInstanceOf(Error)
    } finally {
      await blocker.query('ROLLBACK')
      blocker.release()
      await pool.end()
    }
    await rollAll()
    await expectRecount()
  })

  it('a second roller leaves it to the first, and a fresh count is left alone', async () => {
    const first = await t.database.pool.connect()
    try {
      await first.query('BEGIN; SELECT FROM run_stats_cursor FOR UPDATE')
      expect(await t.store.stats.roll({ minAgeMs: 0 })).toEqual({ outcome: 'left' })
    } finally {
      await first.query('ROLLBACK')
      first.release()
    }
    await rollAll()
    expect(await t.store.stats.roll({ minAgeMs: 60_000 })).toEqual({ outcome: 'left' })
  })

  it('on a copy of the database in a younger cluster counting goes on from there, and old events are not counted again', async () => {
    await rollAll()
    const before = await t.store.stats.totals({ model: null, queue: null })
    await t.database.query(`UPDATE run_stats_cursor SET counted = '900000000:900000000:'`)
    expect(await t.store.stats.roll({ minAgeMs: 0 })).toEqual({ outcome: 'restarted' })
    await t.database.query(
      `BEGIN; SET LOCAL session_replication_role = replica; UPDATE run_events SET xid = pg_current_xact_id()::text::bigint; COMMIT`,
    )
    await t.add()
    await rollAll()
    expect(await t.store.stats.totals({ model: null, queue: null })).toEqual({ ...before, created: before.created + 1 })
  })

  it('reads the newest events only, however many it has counted', async () => {
    const { id } = await t.add()
    await t.database.query(
      // Numbers below those of any transaction of a new cluster.
      `INSERT INTO run_events (run_id, seq, type, at, xid)
       SELECT $1, 10 + n, 'old', clock(), 3 + n / 400 FROM generate_series(1, 100000) n`,
      [id],
    )
    await t.store.feed.tidy()
    await rollAll()
    await t.add()
    const settings = [...FEED_SETTINGS, ROLL_SETTING]
    const explaining = await openExplainingPool({ url: t.database.url, name: 'roll', settings })
    const [cursor] = await t.database.query<{ xmax: number }>(
      'SELECT pg_snapshot_xmax(counted)::text::bigint AS xmax FROM run_stats_cursor',
    )
    for (const analysed of [false, true]) {
      if (analysed) await t.database.query('VACUUM ANALYZE run_events')
      await explaining.query(ROLL, [cursor!.xmax, cursor!.xmax + 8, [cursor!.xmax - 1]])
      for (const explained of explaining.take()) expect(rowsRead(explained, 'run_events')).toBeLessThan(20_000)
    }
    await explaining.close()
  })

  it('minutes are kept for two days, hours for longer', async () => {
    await t.database.shiftClock('49 hours')
    try {
      await t.store.stats.forgetOld()
      const kept = await t.database.query('SELECT DISTINCT grain FROM run_stats ORDER BY grain')
      expect(kept).toEqual([{ grain: 'day' }, { grain: 'hour' }])
    } finally {
      await t.database.shiftClock('0')
    }
  })

  it('what there is now counts waiting and running runs and names the oldest that could start', async () => {
    const model = 'now'
    const oldest = await t.add({ model })
    await t.add({ model })
    await t.add({ model, availableAt: new Date(Date.now() + 3_600_000).toISOString() })
    const now = await t.store.stats.now({ model, queue: null })
    expect(now).toMatchObject({ pending: 3, pendingCapped: false, running: 0, oldestWaiting: { runId: oldest.id } })
    await t.claim({ workerId: WORKER, models: [{ model, version: '1', room: 1 }] })
    expect(await t.store.stats.now({ model, queue: 'default' })).toMatchObject({ pending: 2, running: 1 })
    expect(await t.store.stats.now({ model, queue: 'elsewhere' })).toMatchObject({ pending: 0, oldestWaiting: null })
  })
})
