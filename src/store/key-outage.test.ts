/**
 * Runs with a concurrency key while the way to the database breaks in a submit, an approval or at any statement of a promotion: what was sent
 * again is done once, nobody gets a place too many, and none is lost for longer than until the next look. Submits and approvals that are
 * cut at each of their statements are in test/chaos/admission-kill.test.ts.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { type FaultProxy, startProxy } from '../../test/support/proxy.ts'
import { openTestStore, ownModel, type TestStore } from '../../test/support/store.ts'
import type { RunKey } from '../run/runs-per-key.ts'
import { openStore } from './open-store.ts'
import type { Store } from './store.ts'

const FAULTS = ['dropNextRequest', 'dropNextReply'] as const

const SUBMIT = {
  'the cancel of older ones': 'OFFSET $4::int - 1',
  COMMIT: 'COMMIT',
}
const PROMOTE = {
  BEGIN: 'BEGIN',
  'the lock': 'pg_advisory_xact_lock',
  'who arrives': "SET state = 'waiting'",
  'the promotion': 'a place of its concurrency key is free',
  COMMIT: 'COMMIT',
}
const APPROVE = {
  'the approval': "'approved'",
  COMMIT: 'COMMIT',
}

const each = (statements: Record<string, string>) =>
  FAULTS.flatMap((fault) => Object.entries(statements).map(([what, text]) => ({ fault, what, text })))

const has = (text: string) => (sent: string) =>
  text === 'BEGIN' || text === 'COMMIT' ? sent === text : sent.includes(text)

let t: TestStore
let proxy: FaultProxy
let lossy: Store
let made = 0

beforeAll(async () => {
  t = await openTestStore('18')
  const { hostname, port } = new URL(t.database.url)
  proxy = await startProxy({ host: hostname, port: Number(port) })
  lossy = openStore({ url: proxy.through(t.database.url), poolMax: 2 })
  await lossy.ping()
})
afterAll(async () => {
  await lossy.close()
  await proxy.close()
  await t.close()
})

function aKey(mode: RunKey['mode'] = 'queue') {
  made += 1
  return { model: ownModel(), concurrency: { owner: 'default', key: `outage-${made}`, limit: 1, mode } }
}

/** Where the run is, by three tables that must agree. */
async function stateOf(runId: string): Promise<string> {
  const [row] = await t.database.query<{ said: string }>(
    `SELECT concat_ws(' ', r.status, CASE WHEN r.available_at = '9999-01-01Z' THEN 'blocked' END, b.reason, h.state) AS said
     FROM model_runs r LEFT JOIN run_blocks b ON b.run_id = r.id LEFT JOIN concurrency_holds h ON h.run_id = r.id WHERE r.id = $1`,
    [runId],
  )
  return row!.said
}

describe('a submit that replaces an older run', () => {
  it.each(each(SUBMIT))('$fault at $what', async ({ fault, text }) => {
    const of = aKey('cancel_older')
    const old = await t.add(of)
    const run = newRun(of)
    const dropped = proxy[fault](has(text))
    const answer = await lossy.submit(run)
    await dropped
    expect(answer).toMatchObject({ run: { id: run.id } })
    expect(await t.events(old.id)).toEqual(['created', 'cancelled'])
    expect(await t.events(run.id)).toEqual(['created', 'unblocked'])
    expect(await stateOf(run.id)).toBe('PENDING held')
  })
})

describe('a promotion', () => {
  it.each(each(PROMOTE))('$fault at $what', async ({ fault, text }) => {
    const of = aKey()
    const [first, second, third] = [await t.add(of), await t.add(of), await t.add(of)]
    await t.store.cancel(first.id)
    const dropped = proxy[fault](has(text))
    await lossy.blocks.promote(100).catch(() => {})
    await dropped
    await t.store.blocks.promote(100)
    expect(await t.events(second.id)).toEqual(['created', 'unblocked'])
    expect([await stateOf(second.id), await stateOf(third.id)]).toEqual([
      'PENDING held',
      'PENDING blocked concurrency waiting',
    ])
  })
})

describe('an approval', () => {
  it.each(each(APPROVE))('$fault at $what', async ({ fault, text }) => {
    const of = aKey()
    const owner = of.concurrency.key
    const limits = {
      max_concurrent: 1,
      runs_per_hour: null,
      runs_per_day: null,
      cost_per_day: null,
      cost_per_month: null,
    }
    await t.store.quotas.put({ owner, model: '', together: false }, limits, 'require_approval')
    await t.add({ owner, model: of.model })
    const run = await t.add({ ...of, owner, concurrency: { ...of.concurrency, owner } })
    const decision = {
      runId: run.id,
      actor: { tokenId: null, owner: 'ops', requestId: null },
      reason: null,
      sees: null,
    }
    const dropped = proxy[fault](has(text))
    await lossy.blocks.approve(decision).catch(() => {})
    await dropped
    expect(await t.store.blocks.approve(decision)).toMatchObject({ outcome: 'done' })
    expect(await t.events(run.id)).toEqual(['created', 'approved', 'unblocked'])
    expect(await stateOf(run.id)).toBe('PENDING held')
  })
})
