/** Quota facts through a broken line: the refused one is answered as always, and the fact is there once. */

import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hearOf } from '../../test/support/hear.ts'
import { newRun } from '../../test/support/new-run.ts'
import { type FaultProxy, startProxy } from '../../test/support/proxy.ts'
import { putRule } from '../../test/support/quotas.ts'
import { accepted, openTestStore, type TestStore } from '../../test/support/store.ts'
import { openPool } from './connect.ts'
import { createRuleCopy, type RuleCopy } from './quota-rules.ts'
import { createSubmit } from './submit.ts'

const isAnnounce = (text: string) => text.includes('INSERT INTO outbox')
const isCommit = (text: string) => text === 'COMMIT'

describe('quota facts through a broken line', () => {
  let t: TestStore
  let proxy: FaultProxy
  let pool: pg.Pool
  let rules: RuleCopy
  let owner: string
  beforeAll(async () => {
    t = await openTestStore('18')
  })
  afterAll(() => t.close())
  beforeEach(async () => {
    const { hostname, port } = new URL(t.database.url)
    proxy = await startProxy({ host: hostname, port: Number(port) })
    const url = proxy.through(t.database.url)
    pool = openPool({ url, name: 'lossy', max: 2, statementTimeoutMs: 400, connectTimeoutMs: 400, pinPlans: true })
    rules = createRuleCopy(t.database.pool)
    owner = randomUUID()
    await hearOf(t.store, owner, 'quota.exceeded', 'quota.warning')
    await putRule(t.store, { owner, max_concurrent: 1 })
    await rules.refresh()
  })
  afterEach(async () => {
    proxy.cut()
    await pool.end()
    await proxy.close()
  })

  const faults = (['dropNextRequest', 'dropNextReply'] as const).flatMap((fault) => [
    { fault, what: 'the fact', match: isAnnounce },
    { fault, what: 'the commit', match: isCommit },
  ])

  it.each(faults)('$fault at $what', async ({ fault, match }) => {
    const submit = createSubmit({ batchPool: pool, singlePool: pool, rules, retryForMs: 5_000 })
    const dropped = proxy[fault](match)
    accepted(await submit.one(newRun({ owner })))
    await dropped
    const again = proxy[fault](match)
    expect(await submit.one(newRun({ owner }))).toMatchObject({ code: 'quota-exceeded' })
    await again
    const facts = await t.database.query<{ kind: string }>(
      'SELECT DISTINCT kind FROM outbox WHERE owner = $1 ORDER BY kind',
      [owner],
    )
    expect(facts.map(({ kind }) => kind)).toEqual(['quota.exceeded', 'quota.warning'])
  })
})
