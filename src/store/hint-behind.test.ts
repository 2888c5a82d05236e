/** A submit that comes alone hints at its queue by itself, right behind its commit; under load, and in fair queues, it leaves that to others. */

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { newRun, slot } from '../../test/support/new-run.ts'
import { openTransaction } from '../../test/support/open-transaction.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { accepted, openTestStore, type TestStore } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'

describe.each(postgresVersions)('a hint behind a commit on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server, { topicOf: (queue) => `queue:${queue}` })
    // The first submit opens the connection and reads what it needs.
    await t.add()
  })
  afterAll(() => t.close())

  /**
   * What is notified about these queues from now on, each with the number of runs that can be seen when it is heard. Nobody waits for a hint, so
   * that of an earlier submit may still come.
   */
  async function listen(...queues: string[]): Promise<{ topic: string; runs: number }[]> {
    const client = new pg.Client({ connectionString: t.database.url })
    await client.connect()
    onTestFinished(() => client.end())
    const heard: { topic: string; runs: number }[] = []
    client.on('notification', ({ payload = '' }) => {
      if (!queues.includes(payload.slice(6))) return
      void t.database
        .query<{ runs: number }>('SELECT count(*)::int AS runs FROM model_runs WHERE queue = $1', [payload.slice(6)])
        .then(([row]) => heard.push({ topic: payload, runs: row!.runs }))
    })
    await client.query('LISTEN holdfast')
    return heard
  }

  /** A submit with this payload waits until it is known whether the row stays. */
  const takeSlot = (letter: string) => async (client: pg.PoolClient) => {
    const { id } = await t.add()
    await client.query(
      `INSERT INTO payload_slots (owner, payload_hash, run_id, expires_at)
       VALUES ('default', $1, $2, clock() + interval '1 hour')`,
      [letter.repeat(64), id],
    )
  }

  async function waitingForLocks(name = '%'): Promise<number[]> {
    const rows = await t.database.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name LIKE $1`,
      [name],
    )
    return rows.map(({ pid }) => pid)
  }

  it('is heard when the run is there', async () => {
    const heard = await listen('alone')
    const answer = accepted(await t.store.submit(newRun({ queue: 'alone' })))
    expect(answer.isHinted).toBe(true)
    await until(() => heard.length > 0, { what: 'the hint is heard' })
    expect(heard).toEqual([{ topic: 'queue:alone', runs: 1 }])
  })

  it('is left to others of runs that come together', async () => {
    const answers = await t.store.submitMany([newRun(), newRun()])
    expect(answers.map((answer) => accepted(answer).isHinted)).toEqual([false, false])
  })

  it('is left to others while another batch is under way', async () => {
    const held = await openTransaction(t.database.pool, takeSlot('a'))
    const waiting = t.store.submit(newRun({ payloadHash: 'a'.repeat(64), slot: slot() }))
    // It gives up its first connection soon and then waits on another for two seconds.
    await until(async () => (await waitingForLocks('%single')).length > 0, { what: 'the first one waits alone' })
    expect(accepted(await t.store.submit(newRun())).isHinted).toBe(false)
    await held.end('ROLLBACK')
    await waiting
  })

  it('goes down with its connection, and the submit is answered on another one', async () => {
    const held = await openTransaction(t.database.pool, takeSlot('b'))
    const waiting = t.store.submit(newRun({ payloadHash: 'b'.repeat(64), slot: slot() }))
    await until(async () => (await waitingForLocks()).length > 0, { what: 'the submit waits' })
    await t.database.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [await waitingForLocks()])
    await held.end('ROLLBACK')
    expect(accepted(await waiting).idempotentHit).toBe(false)
    expect(accepted(await t.store.submit(newRun())).isHinted).toBe(true)
  })

  it('is left to others in a fair queue, whose owners have to be listed first', async () => {
    await t.database.query(`INSERT INTO queues (queue, fair_share) VALUES ('fair', true)`)
    await until(async () => !accepted(await t.store.submit(newRun({ queue: 'fair' }))).isHinted, {
      what: 'the store has heard that the queue is fair',
    })
  })

  it('is not sent where wake-ups do not go through Postgres', async () => {
    const other = await openTestStore(server)
    onTestFinished(() => other.close())
    expect(accepted(await other.store.submit(newRun())).isHinted).toBe(false)
  })

  it('does not take the answer of a submit that fails, nor its connection from those that follow', async () => {
    const bad = newRun({ queue: 'bad', timeoutSeconds: -1 })
    await expect(t.store.submit(bad)).rejects.toThrow()
    expect(accepted(await t.store.submit(newRun({ queue: 'good' }))).isHinted).toBe(true)
  })
})
