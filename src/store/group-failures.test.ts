/** Failed runs in groups: each counted once, never those of other owners, and never more than a bounded number of them. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore } from '../../test/support/store.ts'
import type { Refusal } from '../run/errors.ts'
import { groupFailures } from './group-failures.ts'
import type { FailuresPage } from './ports/search.ts'
import type { NewRun } from './store.ts'

describe.each(postgresVersions)('failures on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterEach(() => t.clear())
  afterAll(() => t.close())

  async function fail(model: string, errorClass: string, changes: Partial<NewRun> = {}): Promise<string> {
    const lease = await t.running({ model, ...changes })
    await settle(t, lease, 'fail', { error: { class: errorClass, message: `about ${lease.runId}`, stack: null } })
    return lease.runId
  }
  const everything = { model: null, sees: null, limit: 50, cursor: null }
  const short = ({ groups }: FailuresPage) => groups.map(({ model, errorClass, count }) => [model, errorClass, count])

  it('are grouped by model and error class, with the newest as the example', async () => {
    await fail('a', 'Timeout')
    const newest = await fail('a', 'Timeout')
    await fail('a', 'Gone')
    await fail('b', 'Timeout')
    await settle(t, await t.running({ model: 'a' }), 'retry')
    await settle(t, await t.running({ model: 'a2' }), 'succeed')
    const found = await t.store.search.failures(everything)
    expect(short(found)).toEqual([
      ['a', 'Gone', 1],
      ['a', 'Timeout', 2],
      ['b', 'Timeout', 1],
    ])
    const group = found.groups[1]!
    expect(group).toMatchObject({ countCapped: false, example: { runId: newest, message: `about ${newest}` } })
    expect(group.newestAt.getTime()).toBeGreaterThanOrEqual(group.oldestAt.getTime())
    expect(short(await t.store.search.failures({ ...everything, model: 'b' }))).toEqual([['b', 'Timeout', 1]])
    expect(short(await t.store.search.failures({ ...everything, model: 'aa' }))).toEqual([])
  })

  it('of other owners are neither counted nor shown', async () => {
    const mine = await fail('a', 'Timeout', { owner: 'me' })
    await fail('a', 'Timeout', { owner: 'you' })
    await fail('a', 'Gone', { owner: 'you' })
    const found = await t.store.search.failures({ ...everything, sees: 'me' })
    expect(found.groups).toMatchObject([{ errorClass: 'Timeout', count: 1, example: { runId: mine } }])
  })

  it('are counted up to a bound', async () => {
    const runs: string[] = []
    for (let no = 0; no < 5; no += 1) runs.push(await fail('a', 'Timeout', { owner: no === 0 ? 'me' : 'you' }))
    const [capped] = (await groupFailures(t.database.pool, everything, 3)).groups
    expect(capped).toMatchObject({ count: 3, countCapped: true, example: { runId: runs[4] } })
    const oldest = await t.store.readRun(runs[0]!)
    expect(capped!.oldestAt).toEqual(oldest!.run.createdAt)
    expect((await groupFailures(t.database.pool, everything, 5)).groups).toMatchObject([
      { count: 5, countCapped: false },
    ])
    expect((await groupFailures(t.database.pool, { ...everything, sees: 'me' }, 3)).groups).toEqual([])
  })

  it('come in pages', async () => {
    for (const model of ['a', 'b']) for (const errorClass of ['X', 'Y', 'Z']) await fail(model, errorClass)
    const seen: unknown[] = []
    for (let cursor: string | null = null; ; ) {
      const page: FailuresPage = await t.store.search.failures({ ...everything, limit: 2, cursor })
      expect(page.groups).toHaveLength(2)
      seen.push(...short(page).map(([model, errorClass]) => `${model} ${errorClass}`))
      cursor = page.nextCursor
      if (cursor === null) break
    }
    expect(seen).toEqual(['a X', 'a Y', 'a Z', 'b X', 'b Y', 'b Z'])
  })

  it.each(['x', Buffer.from('["a"]').toString('base64url'), Buffer.from('["b", "X"]').toString('base64url')])(
    'refuse the cursor %s',
    async (cursor) => {
      const answer = await t.store.search
        .failures({ ...everything, model: 'a', cursor })
        .catch((error: unknown) => error)
      expect((answer as Refusal).code).toBe('invalid-query')
    },
  )
})
