/** The name that a retry holds: one active retry of a run, whatever the clock says, and a new one after it has ended. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { key, newRun } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { accepted, openTestStore, ownModel, settle, type TestStore } from '../../test/support/store.ts'
import { judgeName } from '../run/idempotency.ts'
import { RUN_STATUSES, type RunStatus } from '../run/status.ts'

describe.each(postgresVersions)('the name of a retry on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  /** A retry of its own, brought into a state. */
  async function retryIn(status: RunStatus): Promise<{ id: string; retryOf: string }> {
    const retryOf = randomUUID()
    const run = newRun({ retryOf, model: ownModel() })
    accepted(await t.store.submit(run))
    if (status === 'CANCELLED') await t.store.cancel(run.id)
    if (status === 'RUNNING' || status === 'SUCCEEDED' || status === 'FAILED') {
      const [lease] = await t.claim({ models: [{ model: run.model, version: '1', room: 1 }] })
      if (status !== 'RUNNING') await settle(t, lease!, status === 'SUCCEEDED' ? 'succeed' : 'fail')
    }
    return { id: run.id, retryOf }
  }

  const cases = RUN_STATUSES.flatMap((status) => [false, true].map((expired) => ({ status, expired })))
  it.each(cases)('$status, expired $expired: the statement and the rule agree', async ({ status, expired }) => {
    const { id, retryOf } = await retryIn(status)
    if (expired) await t.database.query(`UPDATE idempotency_keys SET expires_at = clock() WHERE run_id = $1`, [id])
    const next = newRun({ retryOf })
    const { run, idempotentHit } = accepted(await t.store.submit(next))
    const wanted = { kind: 'retry', runId: next.id, payloadHash: next.payloadHash, dedupe: 'active' } as const
    const verdict = judgeName(wanted, { runId: id, payloadHash: 'another', expired, status })
    expect({ id: run.id, idempotentHit }).toEqual(
      verdict === 'hit' ? { id, idempotentHit: true } : { id: next.id, idempotentHit: false },
    )
  })

  it('a retry sent again with its id is the same run, also after it has ended', async () => {
    const retryOf = randomUUID()
    const run = newRun({ retryOf })
    accepted(await t.store.submit(run))
    for (const end of [false, true]) {
      if (end) await t.store.cancel(run.id)
      expect(accepted(await t.store.submit(run))).toMatchObject({ run: { id: run.id }, idempotentHit: false })
    }
    const [row] = await t.database.query('SELECT count(*) AS runs FROM model_runs WHERE retry_of = $1', [retryOf])
    expect(row).toEqual({ runs: 1 })
  })

  it('a retry that comes with a key and finds another one active makes its key lead there', async () => {
    const { id, retryOf } = await retryIn('PENDING')
    const keyed = { retryOf, key: key('keyed'), payloadHash: 'a'.repeat(64) }
    expect(accepted(await t.store.submit(newRun(keyed)))).toMatchObject({ run: { id }, idempotentHit: true })
    await t.store.cancel(id)
    expect(accepted(await t.store.submit(newRun(keyed)))).toMatchObject({ run: { id }, idempotentHit: true })
  })

  it('its row is cleaned away when its hour is over and its run has ended, not before', async () => {
    const { id } = await retryIn('PENDING')
    const held = async () => (await t.database.query('SELECT FROM idempotency_keys WHERE run_id = $1', [id])).length
    await t.database.query(`UPDATE idempotency_keys SET expires_at = clock() WHERE run_id = $1`, [id])
    await t.store.deleteExpiredKeys(1_000)
    expect(await held()).toBe(1)
    await t.store.cancel(id)
    await t.store.deleteExpiredKeys(1_000)
    expect(await held()).toBe(0)
  })
})
