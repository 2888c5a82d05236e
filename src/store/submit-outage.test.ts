/**
 * Submits while the way to the database breaks: a statement whose reply is lost, was it committed or not, makes one run and is
 * answered as new; what cannot be known in time is said to be unavailable, and a repeat with the key tells.
 */

import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { key, newRun, slot } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { type FaultProxy, startProxy } from '../../test/support/proxy.ts'
import { accepted, openTestStore, type TestStore } from '../../test/support/store.ts'
import { Refusal } from '../run/errors.ts'
import { openPool } from './connect.ts'
import type { NewRun } from './store.ts'
import { createSubmit, type Submit } from './submit.ts'

const isInsert = (text: string) => text.includes('INSERT INTO model_runs')

const NAMES: Record<string, () => Partial<NewRun>> = {
  'without a name': () => ({}),
  'with a key': () => ({ key: key(`lost-${Math.random()}`) }),
  'with a slot': () => ({ slot: slot() }),
  'with both': () => ({ key: key(`lost-${Math.random()}`), slot: slot() }),
}

describe.each(postgresVersions)('submit through a broken line on Postgres %s', (server) => {
  let t: TestStore
  let proxy: FaultProxy
  let pools: pg.Pool[]
  let submit: Submit

  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  beforeEach(async () => {
    const { hostname, port } = new URL(t.database.url)
    proxy = await startProxy({ host: hostname, port: Number(port) })
    const url = proxy.through(t.database.url)
    const bounds = { url, name: 'lossy', statementTimeoutMs: 400, connectTimeoutMs: 400, pinPlans: true }
    pools = [openPool({ ...bounds, max: 2, lockTimeoutMs: 100 }), openPool({ ...bounds, max: 4 })]
    submit = createSubmit({ batchPool: pools[0]!, singlePool: pools[1]!, retryForMs: 2_000 })
    // Connected and the lane known, so that the next statement is the one that counts.
    accepted(await submit.one(newRun()))
  })
  afterEach(async () => {
    proxy.cut()
    await Promise.all(pools.map((pool) => pool.end()))
    await proxy.close()
  })

  const rowsOf = async ({ payloadHash }: NewRun) =>
    (await t.database.query('SELECT FROM model_runs WHERE payload_hash = $1', [payloadHash])).length
  const refusalOf = async (run: NewRun) => {
    const answer = await submit.one(run)
    expect(answer).toBeInstanceOf(Refusal)
    return (answer as Refusal).code
  }

  describe.each(Object.entries(NAMES))('%s', (_what, names) => {
    it.each(['dropNextReply', 'dropNextRequest'] as const)('%s: one run, answered as new', async (fault) => {
      const run = newRun(names())
      const dropped = proxy[fault](isInsert)
      const answer = accepted(await submit.one(run))
      await dropped
      expect(answer).toMatchObject({ run: { id: run.id, status: 'PENDING' }, idempotentHit: false })
      expect(await rowsOf(run)).toBe(1)
      expect(await t.events(run.id)).toEqual(['created'])
    })
  })

  it.each(['dropNextReply', 'dropNextRequest'] as const)('%s of a whole batch: each run once', async (fault) => {
    const runs = Object.values(NAMES).flatMap((names) => Array.from({ length: 5 }, () => newRun(names())))
    const dropped = proxy[fault](isInsert)
    const answers = (await submit.many(runs)).map(accepted)
    await dropped
    expect(answers.map(({ run }) => run.id)).toEqual(runs.map(({ id }) => id))
    expect(new Set(answers.map(({ idempotentHit }) => idempotentHit))).toEqual(new Set([false]))
    for (const run of runs) expect(await rowsOf(run)).toBe(1)
  })

  it('a lost reply whose name went to another run meanwhile is still answered with its own run', async () => {
    const first = newRun({ slot: slot() })
    const dropped = proxy.dropNextReply(isInsert)
    const second = newRun({ slot: slot(), parameters: first.parameters })
    const taken = dropped.then(async () => {
      await t.store.cancel(first.id)
      return accepted(await t.store.submit(second))
    })
    const held = proxy.dropNextRequest((text) => text.includes('FROM model_runs WHERE id = ANY'))
    const answer = submit.one(first)
    await held
    expect((await taken).run.id).toBe(second.id)
    expect(accepted(await answer)).toMatchObject({ run: { id: first.id }, idempotentHit: false })
  })

  it('connections cut again and again under load: everything accepted is stored once', async () => {
    const runs = Array.from({ length: 200 }, () => newRun({ slot: slot() }))
    let answered = 0
    const answers = await Promise.all(
      runs.map(async (run, no) => {
        const answer = await submit.one(run)
        answered += 1
        if (answered % 40 === 0 || no % 67 === 0) proxy.cut()
        return accepted(answer)
      }),
    )
    expect(answers.map(({ run }) => run.id)).toEqual(runs.map(({ id }) => id))
    const [row] = await t.database.query(
      'SELECT count(*) AS runs, count(DISTINCT payload_hash) AS payloads FROM model_runs WHERE id = ANY($1)',
      [runs.map(({ id }) => id)],
    )
    expect(row).toEqual({ runs: 200, payloads: 200 })
  })

  it('a database gone for long: unavailable, and nothing appears afterwards', async () => {
    await proxy.close()
    const runs = [newRun(), newRun({ key: key('gone') }), newRun({ slot: slot() })]
    const codes = await Promise.all(runs.map(refusalOf))
    expect(new Set(codes)).toEqual(new Set(['database-unavailable']))
    for (const run of runs) expect(await rowsOf(run)).toBe(0)
    expect(accepted(await t.store.submit(newRun({ key: key('gone') }))).idempotentHit).toBe(false)
  })

  it('committed, then gone for long: unavailable, and the repeat with the key finds the run', async () => {
    const run = newRun({ key: key('unknown') })
    const dropped = proxy.dropNextReply(isInsert).then(() => proxy.close())
    expect(await refusalOf(run)).toBe('database-unavailable')
    await dropped
    const repeat = newRun({ key: key('unknown'), parameters: run.parameters })
    expect(accepted(await t.store.submit(repeat))).toMatchObject({ run: { id: run.id }, idempotentHit: true })
  })

  it('a line that went silent: unavailable in bounded time, and it works again when the line does', async () => {
    proxy.halfOpen()
    expect(await refusalOf(newRun())).toBe('database-unavailable')
    proxy.resume()
    const run = newRun()
    expect(accepted(await submit.one(run)).run.id).toBe(run.id)
  })
})
